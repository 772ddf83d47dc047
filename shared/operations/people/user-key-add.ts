import * as z from 'zod';
import { addPublicKey, VOUCHED } from '#shared/people/key-purposes.ts';
import { personNamed } from '#shared/people/people.ts';
import type { Config } from '#shared/config/schema.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import { KEY_REFUSALS } from '../key-refusals.ts';
import { Conflict, InputError, operation } from '../operation.ts';
import { keyName, publicKey, readKey } from '../public-key-members.ts';
import { personName } from './person-name.ts';
import { said } from '#shared/refusals/operations.ts';
import { fault } from '#shared/refusals/fault.ts';

const SCHEMES = { concealed: 'Concealed', hoba: 'HOBA' } as const;

const names = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[];

export const addKeyOfUser = operation({
  name: 'user key add',
  summary: 'add or make a key that signs a person in without a password',
  effect: 'changes',
  input: z.strictObject({
    name: personName,
    public_key: publicKey,
    key_name: keyName,
    scheme: z
      .enum(names)
      .default('concealed')
      .describe(`${names.join(' or ')}; default: concealed`),
    origin: z
      .string()
      .max(512, fault(said('reference', { what: 'an origin' })))
      .exactOptional()
      .describe(
        'only for hoba, whose RSA keys need --public-key: the only origin where the key is valid',
      ),
  }),
  operands: ['name'],
  output: z.strictObject({
    fingerprint: z.string(),
    person: z.string(),
    scheme: z.string(),
    origin: z.string().exactOptional(),
    name: z.string().describe('the name of the key'),
  }),
  async run({ name: asked, public_key, key_name, scheme: called, origin }, house) {
    const { stores, config, clock } = house;
    const scheme = SCHEMES[called];
    checkOrigin(scheme, origin, config);
    const { id, name: person } = await personNamed(stores.people, asked);
    const members = { scheme, ...(origin !== undefined && { origin }), name: key_name };
    const key = {
      ...readKey(public_key, scheme),
      ...members,
      ...VOUCHED,
      owner: { kind: 'person', id } as const,
      created_at: clock.now(),
    };
    const outcome = await addPublicKey(stores, key, house.recorder);
    if (outcome !== 'added') throw new Conflict(KEY_REFUSALS[outcome](key.id));
    return { fingerprint: key.id, person, ...members };
  },
});

/** RFC 7486 section 5: a HOBA key is for one origin, with TLS. */
export function checkOrigin(
  scheme: 'Concealed' | 'HOBA',
  origin: string | undefined,
  config: Config,
) {
  if (scheme === 'Concealed') {
    if (origin !== undefined) throw new InputError(['origin'], said('of-hoba'));
    return;
  }
  const origins = new Set(everySpace(config).map(({ url }) => new URL(url).origin));
  const secure = [...origins].filter((one) => one.startsWith('https:'));
  if (origin !== undefined && secure.includes(origin)) return;
  throw new InputError(
    ['origin'],
    secure.length === 0 ? said('no-origin') : said('tls-origin', { origins: secure.join(', ') }),
  );
}
