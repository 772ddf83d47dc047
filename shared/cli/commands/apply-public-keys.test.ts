import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { readPublicKey } from '#shared/people/public-key.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';

interface Applied {
  readonly changes: readonly { kind: string; name: string; change: string; members: object }[];
}

async function newShell() {
  const shell = new TestShell(await newData());
  const file = join(await temporaryFolder(), 'declared.json');
  const done = async (content: object, ...options: readonly string[]) => {
    await writeFile(file, JSON.stringify(content));
    const { changes } = (await json(shell, 'apply', file, ...options)) as Applied;
    return changes.map(({ kind, name, change }) => `${kind} ${name} ${change}`);
  };
  const refused = async (content: object) => {
    await writeFile(file, JSON.stringify(content));
    const { code, stdout, stderr } = await inProcess(shell, 'apply', file);
    expect([code, stdout]).toEqual([1, '']);
    return stderr;
  };
  const run = async (...args: readonly string[]) => (await inProcess(shell, ...args)).stdout;
  return { shell, file, done, refused, run };
}

function newPair() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ format: 'pem', type: 'spki' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'Ed25519' };
  return {
    pem,
    jwk,
    privatePem: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    privateJwk: { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'Ed25519' },
    ...readPublicKey(Buffer.from(pem), 'Concealed'),
  };
}

const OF_PERSON = newPair();
const OF_APP = newPair();
const PEOPLE = [{ name: 'alice' }];
const HERS = {
  scheme: 'Concealed',
  owner: { kind: 'person', name: 'alice' },
  public_key: OF_PERSON.pem,
  name: 'laptop',
};
const ITS = {
  id: OF_APP.id,
  scheme: 'Concealed',
  owner: { kind: 'application', id: 'Reports' },
  spki: OF_APP.spki,
  name: 'server',
};
const FILE = { people: PEOPLE, public_keys: [HERS, ITS] };

test('apply adds the public keys of a person of the same file and of an application; a second run changes nothing', async () => {
  const { done, run } = await newShell();
  const added = [`public-key ${OF_PERSON.id} added`, `public-key ${OF_APP.id} added`];
  expect(await done(FILE, '--dry-run')).toEqual(['person alice added', ...added]);
  expect(await run('user', 'list')).not.toContain('alice');
  expect(await done(FILE)).toEqual(['person alice added', ...added]);
  expect(await done(FILE)).toEqual([]);
  expect(await run('user', 'key', 'list', 'alice')).toContain(OF_PERSON.id);
  expect(await run('key', 'list')).toContain(OF_APP.id);
  const events = await run('audit', 'list', '--kind', 'public-key.added', '--json');
  expect(events.trim().split('\n')).toHaveLength(2);
});

test('--prune removes the keys that apply added, and no other key', async () => {
  const { file, done, run } = await newShell();
  await done(FILE);
  const byHand = newPair();
  const publicKey = `${file}.pem`;
  await writeFile(publicKey, byHand.pem);
  await run('user', 'key', 'add', 'alice', '--public-key', publicKey, '--name', 'by hand');
  expect(await done({ people: PEOPLE })).toEqual([]);
  expect((await done({ people: PEOPLE }, '--prune')).toSorted()).toEqual(
    [OF_PERSON, OF_APP].map(({ id }) => `public-key ${id} removed`).toSorted(),
  );
  const left = await run('user', 'key', 'list', 'alice');
  expect(left).toContain(byHand.id);
  expect(left).not.toContain(OF_PERSON.id);
  expect(await done({ people: PEOPLE }, '--prune')).toEqual([]);
  const events = await run('audit', 'list', '--kind', 'public-key.removed', '--json');
  expect(events.trim().split('\n')).toHaveLength(2);
});

test('an export by --declared contains public keys and GNAP clients, and gives the same elsewhere', async () => {
  const { shell, file, done } = await newShell();
  await done(FILE);
  const added = ['client', 'add', '--name', 'Robot', '--grant', 'client_credentials'];
  const key = `${file}.jwk`;
  await writeFile(key, JSON.stringify(newPair().jwk));
  const { client_id: id } = (await json(
    shell,
    ...added,
    '--scope',
    'documents:read',
    '--gnap-key',
    key,
  )) as { client_id: string };
  const declared = `${file}.declared`;
  await json(shell, 'directory', 'export', declared, '--declared');
  const content = JSON.parse(await readFile(declared, 'utf8'));
  expect(await done(content, '--prune')).toEqual([]);
  const fresh = await newShell();
  expect((await fresh.done(content)).toSorted()).toEqual(
    [
      `client ${id} added`,
      'person alice added',
      `public-key ${OF_APP.id} added`,
      `public-key ${OF_PERSON.id} added`,
    ].toSorted(),
  );
  expect(await fresh.done(content)).toEqual([]);
  expect(await fresh.done({ people: PEOPLE }, '--prune')).toContain(`client ${id} removed`);
});

const withKey = (changes: object) => ({ people: PEOPLE, public_keys: [{ ...HERS, ...changes }] });

test.each<readonly [string, object, string]>([
  ['a private key in PEM', withKey({ public_key: OF_PERSON.privatePem }), 'is a private key'],
  [
    'a private JWK',
    withKey({ public_key: JSON.stringify(OF_PERSON.privateJwk) }),
    'public_keys.0.public_key',
  ],
  ['a member for one', withKey({ private_key: 'x' }), 'is a private key'],
  ['two forms of the key', withKey({ spki: OF_PERSON.spki }), 'has both spki and public_key'],
  ['no key', withKey({ public_key: undefined }), 'or neither'],
  ['the fingerprint of another', withKey({ id: OF_APP.id }), 'must be the fingerprint'],
  ['what is no key', withKey({ public_key: 'x' }), 'public_keys.0.public_key'],
  ['an owner without a name', withKey({ owner: { kind: 'person' } }), 'either name or id'],
  [
    'an owner with both',
    withKey({ owner: { kind: 'person', name: 'alice', id: 'alice' } }),
    'either name or id',
  ],
  ['a stranger', withKey({ owner: { kind: 'person', name: 'bob' } }), 'neither in the file nor'],
  ['an origin', withKey({ origin: 'https://a.example' }), 'belongs to the scheme hoba'],
  ['the same key twice', { people: PEOPLE, public_keys: [HERS, HERS] }, 'of an earlier entry'],
  ['another member', withKey({ more: 1 }), 'more'],
])('%s is refused, and nothing changes', async (_, content, said) => {
  const { refused, run } = await newShell();
  const stderr = await refused(content);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain(OF_PERSON.privateJwk.d);
  expect(await run('user', 'list')).not.toContain('alice');
});

test('a public key cannot get another owner, name or use', async () => {
  const { done, refused } = await newShell();
  await done(FILE);
  const people = [...PEOPLE, { name: 'bob' }];
  const bobs = { ...HERS, owner: { kind: 'person', name: 'bob' } };
  expect(await refused({ people, public_keys: [bobs] })).toContain('cannot change owner');
  const renamed = { ...HERS, name: 'phone' };
  expect(await refused({ public_keys: [renamed] })).toContain('cannot change name');
});

test("RFC 9729 section 8: a client's key cannot sign a person in, whichever was added first", async () => {
  const { done, refused } = await newShell();
  const pair = newPair();
  const client = {
    client_id: 'robot',
    client_name: 'Robot',
    grant_types: ['client_credentials'],
    scope: 'documents:read',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...pair.jwk, alg: 'EdDSA' }] },
  };
  const key = { ...ITS, id: pair.id, spki: pair.spki };
  await done({ clients: [client] });
  expect(await refused({ public_keys: [key] })).toContain('is that of a client');
  const other = await newShell();
  await other.done({ public_keys: [key] });
  expect(await other.refused({ clients: [client] })).toContain('is a key for Concealed');
});

const GNAP = {
  client_name: 'Robot',
  grant_types: ['client_credentials'],
  scope: 'documents:read',
  token_endpoint_auth_method: 'none',
};

test('RFC 9635 section 2.3: a GNAP client is identified by its key, and has no other identifier', async () => {
  const { done, refused } = await newShell();
  const { jwk, privateJwk } = newPair();
  const client = { ...GNAP, client_id: 'robot', gnap: { key: { proof: 'httpsig', jwk } } };
  const said = await refused({ clients: [client] });
  const id = /must be (gnap-[\w-]+)/.exec(said)?.[1] ?? '';
  const right = { ...client, client_id: id };
  expect(
    await refused({ clients: [{ ...right, token_endpoint_auth_method: undefined }] }),
  ).toContain('must be none for a client of GNAP');
  const secret = { ...right, gnap: { key: { proof: 'httpsig', jwk: privateJwk } } };
  const refusal = await refused({ clients: [secret] });
  expect(refusal).toContain('clients.0.gnap');
  expect(refusal).not.toContain(privateJwk.d);
  expect(await refused({ clients: [{ ...right, gnap: { key: {} } }] })).toContain('clients.0.gnap');
  expect(await refused({ clients: [{ ...right, origins: ['https://a.example'] }] })).toContain(
    'is not of a client of GNAP',
  );
  expect(await done({ clients: [right] })).toEqual([`client ${id} added`]);
  expect(await done({ clients: [right] })).toEqual([]);
  const bearer = { ...right, gnap: { ...right.gnap, bearer: true } };
  expect(await refused({ clients: [bearer] })).toContain('cannot change gnap');
});

test("a GNAP client with a certificate is declared by the certificate's digest", async () => {
  const { done } = await newShell();
  const digest = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg';
  const gnap = { key: { proof: 'mtls', 'cert#S256': digest } };
  const client = { ...GNAP, client_id: `gnap-${digest}`, gnap };
  expect(await done({ clients: [client] })).toEqual([`client gnap-${digest} added`]);
  expect(await done({ clients: [client] })).toEqual([]);
});
