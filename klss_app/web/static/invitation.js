// The invitation to the second seat: its links to copy, and the QR codes that a telephone's camera opens.
import { $, make } from '/dom.js';
import { T } from '/strings.js';

/** @param {{link: string, picture: string | null}[] | null} links null: the seat is taken */
export function showInvitation(links) {
  const place = $('invitation');
  place.hidden = !links?.length;
  if (place.hidden) {
    place.replaceChildren();
    return;
  }
  place.replaceChildren(
    make('h2', { text: T.invite }),
    make('p', { class: 'soft', text: links.some((each) => each.picture) ? T.inviteAbout : T.inviteHere }),
    ...links.map(({ link, picture }) => {
      const field = make('input', { value: link, readonly: true, 'aria-label': T.inviteLink, onfocus: () => field.select() });
      const button = make('button', { type: 'button', class: 'chief', text: T.copy, onclick: () => copy(field, button) });
      const code = picture ? [make('img', { src: picture, alt: T.inviteCode, class: 'code' })] : [];
      return make('div', {}, make('span', { class: 'row' }, field, button), ...code);
    }),
  );
}

/** The older way to copy, as pages without encryption don't have the newer one. */
async function copy(field, button) {
  field.select();
  try {
    if (navigator.clipboard) await navigator.clipboard.writeText(field.value);
    else document.execCommand('copy');
    button.textContent = T.copied;
    setTimeout(() => (button.textContent = T.copy), 2000);
  } catch {
    // The link stays selected: Ctrl-C copies it.
  }
}
