import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ALONE } from '#shared/base/line.ts';
import { createPasswords } from '#shared/people/password.ts';
import type { Pair, Person } from '../pair/pair.ts';
import type { Fields } from './site.ts';
import { BODY, ORIGIN } from './site.ts';
import { NO_LIMIT } from './targets/countersign.ts';
import type { Countersign } from './targets/countersign.ts';
import { mintTokens } from './tokens.ts';

const REALM = 'documents';
const SCOPE = 'documents:read';
const WRITE = 'documents:write';
const SPACE = `${ORIGIN}/documents/`;
/** The path of the document. */
export const DOCUMENT = '/documents/small';

/** One space that accepts all of these schemes. */
export const SETTINGS = {
  resource: ORIGIN,
  spaces: [
    {
      url: SPACE,
      realm: REALM,
      schemes: ['Digest', 'Bearer', 'Basic', 'API-Key'],
      digest: { algorithms: ['SHA-256', 'MD5'] },
      apiKey: { limit: NO_LIMIT },
      scopes: { safe: [SCOPE], unsafe: [WRITE] },
      grants: { everyone: [SCOPE, WRITE] },
    },
  ],
};

/** Our servers with the document, and with credentials of a person, a key and a token. */
export interface Gate {
  readonly servers: Countersign;
  readonly person: Person;
  readonly key: string;
  readonly token: string;
}

export const basic = (name: string, password: string): Fields => ({
  Authorization: `Basic ${btoa(`${name}:${password}`)}`,
});

export async function openGate(servers: Countersign): Promise<Gate> {
  const { pair, resource } = servers;
  const person = await pair.addPerson();
  const headers = { ...basic(person.name, person.password), 'Content-Type': 'text/plain' };
  const put = await fetch(resource.url + DOCUMENT, { method: 'PUT', headers, body: BODY });
  if (put.status !== 201) throw new Error(`PUT ${DOCUMENT} was answered ${put.status}`);
  const whose = ['--application', 'Bench', '--realm', REALM, '--scope', SCOPE];
  const { key } = await pair.cli('key', 'add', ...whose);
  const client = await pair.addClient(SCOPE);
  const issuer = servers.authz.url;
  const [token = ''] = await mintTokens({ issuer, client, scope: SCOPE, resource: SPACE }, 1);
  return { servers, person, key: String(key), token };
}

/** Adds this many people with the same password and the same hash. */
export async function addCrowd(pair: Pair, count: number): Promise<readonly Person[]> {
  const password = 'correct horse battery';
  const password_hash = await createPasswords().hash(ALONE, password);
  const crowd = Array.from({ length: count }, (_, at) => `person${at}`);
  const people = crowd.map((name) => ({
    id: name,
    name,
    password_hash,
    verifiers: [],
    created_at: 0,
  }));
  const directory = {
    countersign_directory: 1,
    people,
    api_keys: [],
    public_keys: [],
    passkeys: [],
    second_factors: [],
  };
  const file = join(pair.data, 'crowd.json');
  await writeFile(file, JSON.stringify(directory));
  await pair.cli('directory', 'import', file);
  return crowd.map((name) => ({ id: name, name, password }));
}
