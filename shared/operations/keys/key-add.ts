import * as z from 'zod';
import type { Config } from '#shared/config/schema.ts';
import { parseScope } from '#shared/jose/scope.ts';
import { addPublicKey } from '#shared/people/key-purposes.ts';
import { scopes, visibleName } from '../clients/client-members.ts';
import { KEY_REFUSALS } from '../key-refusals.ts';
import { Conflict, type House, InputError, operation } from '../operation.ts';
import { keyName, publicKey, readKey } from '../public-key-members.ts';
import { SPELLINGS } from '../texts.ts';
import { addApiKey, expires, expiresAt, newKeySchema } from './new-key.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

const input = z.strictObject({
  application: visibleName
    .describe('the application that the key identifies')
    .register(SPELLINGS, { value: 'NAME' }),
  realm: z
    .string()
    .max(512, fault(said('reference', { what: 'a realm' })))
    .exactOptional()
    .describe('the only realm that accepts the API key'),
  scope: scopes
    .exactOptional()
    .describe('the scopes of the key; default: none')
    .register(SPELLINGS, { value: '"A B"' }),
  expires: expires('never'),
  concealed: z
    .boolean()
    .default(false)
    .describe('make a key for Concealed instead; only its public half is stored'),
  public_key: publicKey.exactOptional(),
  key_name: keyName.exactOptional(),
});

type Asked = z.output<typeof input>;

/** The members that only one kind of key has. */
const OWN = {
  api: ['realm', 'scope', 'expires'],
  concealed: ['public_key', 'key_name'],
} as const;

export const addKey = operation({
  name: 'key add',
  summary: 'make an API key for an application; prints it (shown only this once)',
  effect: 'changes',
  input,
  operands: [],
  output: z.union([
    newKeySchema,
    z.strictObject({
      id: z.string(),
      application: z.string(),
      scheme: z.string(),
      name: z.string().describe('the name of the key'),
    }),
  ]),
  check(asked, config) {
    const { concealed } = asked;
    const foreign = OWN[concealed ? 'api' : 'concealed'].find(
      (member) => asked[member] !== undefined,
    );
    if (foreign !== undefined) {
      throw new InputError([foreign], said(concealed ? 'of-api-keys' : 'of-concealed'));
    }
    if (!concealed) checkRealm(asked.realm, config);
    const missing = concealed && OWN.concealed.find((member) => asked[member] === undefined);
    if (missing) throw new InputError([missing], said('missing'));
    if (concealed) readKey(asked.public_key ?? '', 'Concealed');
  },
  run: (asked, house) => (asked.concealed ? addConcealed(asked, house) : addSecret(asked, house)),
});

/** Creates a secret key. */
async function addSecret({ application, realm = '', scope, expires: days }: Asked, house: House) {
  const expires_at = expiresAt(days, house);
  return addApiKey(house, {
    application,
    realm,
    scopes: [...parseScope(scope)],
    ...(expires_at !== undefined && { expires_at }),
  });
}

/** Adds the public half of a key for Concealed (RFC 9729). */
async function addConcealed({ application, public_key = '', key_name = '' }: Asked, house: House) {
  const members = { scheme: 'Concealed', name: key_name } as const;
  const key = {
    ...readKey(public_key, 'Concealed'),
    ...members,
    owner: { kind: 'application', id: application } as const,
    created_at: house.clock.now(),
  };
  const outcome = await addPublicKey(house.stores, key, house.recorder);
  if (outcome !== 'added') throw new Conflict(KEY_REFUSALS[outcome](key.id));
  return { id: key.id, application, ...members };
}

/** Throws `InputError` for a realm that accepts no API keys. */
export function checkRealm(asked: string | undefined, { spaces }: Config): void {
  if (asked === undefined) throw new InputError(['realm'], said('missing'));
  const realms = spaces
    .filter(({ schemes, apiKey }) => schemes.includes('API-Key') || apiKey.beside)
    .map(({ realm }) => realm);
  if (realms.includes(asked)) return;
  throw new InputError(
    ['realm'],
    realms.length === 0 ? said('no-realm') : said('realm', { realms: realms.join(', ') }),
  );
}
