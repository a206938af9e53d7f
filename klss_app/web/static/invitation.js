// The invitation to the second seat: its links to copy.
import { $, make } from '/dom.js';
import { T } from '/strings.js';

/** @param {string[] | null} links null: the seat is taken */
export function showInvitation(links) {
  $('invitation').hidden = !links?.length;
  const rows = (links ?? []).map((link) => {
    const field = make('input', { value: link, readonly: true, 'aria-label': T.inviteLink, onfocus: () => field.select() });
    const copied = () => {
      field.select();
      document.execCommand('copy'); // pages without encryption don't have the newer way
      button.textContent = T.copied;
    };
    const button = make('button', { type: 'button', class: 'chief', text: T.copy, onclick: copied });
    return make('div', { class: 'row' }, field, button);
  });
  $('invitation').replaceChildren(make('h2', { text: T.invite }), make('p', { class: 'soft', text: T.inviteAbout }), ...rows);
}
