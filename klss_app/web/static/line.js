// The connection to the server: takes the seat by the token or invitation in the page's link; reconnects if it breaks.

export class Line {
  /** @param {URLSearchParams} link @param {(message: any) => void} take @param {(up: boolean) => void} changed */
  constructor(link, take, changed) {
    this.token = link.get('seat') ?? '';
    this.invite = link.get('invite') ?? undefined;
    this.take = take;
    this.changed = changed;
    this.wait = 250;
    this.given = false; // whether a lost connection stays lost
    this.open();
  }

  open() {
    this.socket = new WebSocket(`ws://${location.host}/ws`);
    this.socket.onopen = () => this.send({ type: 'sit', token: this.token, invite: this.invite });
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === 'room') {
        this.wait = 250;
        this.changed(true);
      }
      this.take(message);
    };
    this.socket.onclose = () => {
      if (this.given) return;
      this.changed(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(4000, this.wait * 2);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
    else this.changed(false);
  }
}
