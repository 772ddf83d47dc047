/** Shows the button beside a password, which is of no use without script, and what was typed while it is pressed. */
export const REVEAL = `
const button = document.getElementById('reveal');
const field = document.getElementById('password');
const show = (shown) => {
  field.type = shown ? 'text' : 'password';
  button.setAttribute('aria-pressed', String(shown));
};
button.hidden = false;
button.addEventListener('click', () => show(field.type === 'password'));
// Browsers remember what is typed into other fields.
field.form.addEventListener('submit', () => show(false));
`;
