// The invitation to the second seat: its links to copy.
import { $, make } from '/dom.js';
import { T } from '/strings.js';

/** @param {string[] | null} links null: the seat is taken */
export function showInvitation(links) {
  $('invitation').hidden = !links?.length;
  const rows = (links ?? []).map((link) => {
    const field = make('input', { value: link, readonly: true, 'aria-label': T.inviteLink, onfocus: () => field.select() });
    const button = make('button', { type: 'button', class: 'chief', text: T.copy, onclick: () => copy(field, button) });
    return make('div', { class: 'row' }, field, button);
  });
  $('invitation').replaceChildren(make('h2', { text: T.invite }), make('p', { class: 'soft', text: T.inviteAbout }), ...rows);
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
