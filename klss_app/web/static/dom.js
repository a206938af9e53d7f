// Small helpers for the page's elements. Text is always set as text, never as markup.

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/**
 * An element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] `text` and `on…` handlers among them
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') element.textContent = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** The entries of the link's fragment: seat, game, ply. */
export function fragment() {
  return new URLSearchParams(location.hash.slice(1));
}

/** @param {Record<string, string | number | null>} changes null takes an entry out */
export function setFragment(changes) {
  const all = fragment();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) all.delete(name);
    else all.set(name, String(value));
  }
  history.replaceState(null, '', `#${all}`);
}
