/**
 * The one script of the pages that ask for or make a password or a passkey. It shows the buttons that are of no use without
 * it, puts the answer of an authenticator into the form's field `passkey`, and sends the form.
 */
export const CREDENTIAL_SCRIPT = `
const reveal = document.getElementById('reveal');
if (reveal) {
  const field = document.getElementById('password');
  const show = (shown) => {
    field.type = shown ? 'text' : 'password';
    reveal.setAttribute('aria-pressed', String(shown));
  };
  reveal.hidden = false;
  reveal.addEventListener('click', () => show(field.type === 'password'));
  // Browsers remember what is typed into other fields.
  field.form.addEventListener('submit', () => show(false));
}
const button = document.getElementById('passkey-button');
const Key = window.PublicKeyCredential;
if (button && Key?.parseRequestOptionsFromJSON) {
  const { form } = button;
  const makes = button.dataset.way === 'create';
  const options = JSON.parse(button.dataset.options);
  const failed = document.getElementById('passkey-failed');
  let pending = new AbortController();
  let sent = false;
  const ask = async (more) => {
    // A browser does one of these at a time.
    pending.abort();
    pending = new AbortController();
    const { signal } = pending;
    // On the page of a new account the person chooses its name, which the authenticator shows from then on.
    const { name } = form.elements;
    if (makes && name?.autocomplete === 'username') options.user.name = options.user.displayName = name.value;
    const credential = makes
      ? await navigator.credentials.create({ publicKey: Key.parseCreationOptionsFromJSON(options), signal })
      : await navigator.credentials.get({ publicKey: Key.parseRequestOptionsFromJSON(options), signal, ...more });
    form.elements.passkey.value = JSON.stringify(credential);
    sent = true;
    form.submit();
  };
  button.hidden = false;
  // Enter in a field does what the button does, unless the form has another for it.
  if (makes && !form.querySelector('button:not([type="button"])')) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      button.click();
    });
  }
  button.addEventListener('click', () => {
    // Pressed again on a slow line: the same form, whose answer the server still has.
    if (sent) return form.submit();
    const fields = [...form.elements].filter(({ id }) => id !== 'password');
    if (makes && !fields.every((field) => field.reportValidity())) return;
    failed.hidden = true;
    ask().catch(() => {
      failed.hidden = false;
    });
  });
  document.getElementById('passkey-missing')?.remove();
  // After a refusal the person chooses anew.
  const refused = document.getElementById('problem');
  if (!makes && !refused && (await Key.isConditionalMediationAvailable?.())) {
    ask({ mediation: 'conditional' }).catch(() => {});
  }
}
`;
