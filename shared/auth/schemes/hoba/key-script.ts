/**
 * The script of the key page, a module as text. It makes the key (RFC 7486 section 6.2.3), keeps it in IndexedDB,
 * where it can be used but not exported, and signs with it. It reads the browser's clock.
 */
export const KEY_SCRIPT = `
const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
const ORIGIN = location.protocol + '//' + location.hostname + ':' + (location.port || 443);
const at = (id) => document.getElementById(id);
/** The texts in the language of the page. */
const words = at('said').dataset;
const say = (text) => {
  at('said').textContent = text;
  at('said').hidden = text === '';
};

const opened = new Promise((resolve, reject) => {
  const opening = indexedDB.open('hoba', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
  opening.onsuccess = () => resolve(opening.result);
  opening.onerror = () => reject(opening.error);
});
async function inStore(mode, work) {
  const transaction = (await opened).transaction('keys', mode);
  const request = work(transaction.objectStore('keys'));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}
const load = () => inStore('readonly', (keys) => keys.get('key'));
const keep = (key) => inStore('readwrite', (keys) => keys.put(key, 'key'));
const forget = () => inStore('readwrite', (keys) => keys.delete('key'));

const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const base64url = (bytes) =>
  base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const ask = (url, options) => fetch(url, { credentials: 'omit', cache: 'no-store', ...options });
const post = (name, options) => ask('/.well-known/hoba/' + name, { method: 'POST', ...options });

/** Credentials for one request (RFC 7486 section 2). */
async function signed({ kid, privateKey }) {
  const fresh = await post('getchal');
  if (!fresh.ok) throw new Error(await problemOf(fresh));
  const challenge = (await fresh.text()).trim();
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(16)));
  const fields = [nonce, '0', ORIGIN, '', kid, challenge];
  const text = fields.map((field) => field.length + ':' + field).join('');
  const signature = await crypto.subtle.sign(RSA, privateKey, new TextEncoder().encode(text));
  return { Authorization: 'HOBA result="' + [kid, challenge, nonce, base64url(signature)].join('.') + '"' };
}

async function problemOf(answer) {
  const { title, detail } = await answer.json().catch(() => ({}));
  return [answer.status, title, detail].filter(Boolean).join(' \u2013 ');
}

async function make(name, secret) {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(
    { ...RSA, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
    false,
    ['sign', 'verify'],
  );
  const spki = await crypto.subtle.exportKey('spki', publicKey);
  const kid = base64url(await crypto.subtle.digest('SHA-256', spki));
  const pub = ['-----BEGIN PUBLIC KEY-----', base64(spki), '-----END PUBLIC KEY-----'].join('\\n');
  const key = { kid, privateKey };
  const body = new URLSearchParams({ pub, kidtype: '0', kid, didtype: '0', did: name, secret });
  const answer = await post('register', { headers: await signed(key), body });
  if (!answer.ok || answer.headers.get('Hobareg') !== 'regok') throw new Error(await problemOf(answer));
  const person = await answer.text();
  await keep({ ...key, name, person, made: Date.now() });
}

async function show() {
  const key = await load();
  at('key').hidden = key === undefined;
  at('make').hidden = secret === '';
  at('instead').hidden = key === undefined;
  if (key === undefined) return;
  at('device').textContent = key.name;
  at('person').textContent = key.person;
  at('made').textContent = new Date(key.made).toLocaleString();
  at('fingerprint').textContent = key.kid;
}

/** Runs one task at a time, and shows its result. */
async function doing(work) {
  const buttons = [...document.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  at('answer').hidden = true;
  say('');
  try {
    say(await work());
  } catch (error) {
    say(words.failed + ': ' + error.message);
  }
  for (const button of buttons) button.disabled = false;
  await show();
}

// The secret is removed from the address, so that the browser's history does not have it.
let secret = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
// A new link opened on this page changes only the fragment, so the page loads again.
addEventListener('hashchange', () => location.reload());

at('make').addEventListener('submit', (event) => {
  event.preventDefault();
  void doing(async () => {
    await make(at('name').value, secret);
    secret = '';
    return words.done;
  });
});
at('sign-out').addEventListener('click', () =>
  doing(async () => {
    const answer = await post('logout', { headers: await signed(await load()) });
    if (!answer.ok) throw new Error(await problemOf(answer));
    return words.signedOut;
  }),
);
at('forget').addEventListener('click', () =>
  doing(async () => {
    await forget();
    return words.forgotten;
  }),
);
for (const button of document.querySelectorAll('[data-visit]')) {
  button.addEventListener('click', () =>
    doing(async () => {
      const answer = await ask(button.dataset.visit, { headers: await signed(await load()) });
      at('answer').textContent = await answer.text();
      at('answer').hidden = false;
      return answer.ok ? words.in : words.notIn + ' (' + answer.status + ').';
    }),
  );
}

say('');
await show().catch((error) => say(words.noStore + ': ' + error.message));
if (at('key').hidden && at('make').hidden && at('said').hidden) say(words.none);
`;
