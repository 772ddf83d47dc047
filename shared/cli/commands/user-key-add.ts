import { addPublicKey } from '#shared/people/key-purposes.ts';
import { everySpace } from '#shared/config/second-origin.ts';
import type { Config } from '#shared/config/schema.ts';
import { personNamed } from '#shared/people/people.ts';
import { type Command, type Input, UsageError } from '../arguments/command.ts';
import { addKeyFrom, PUBLIC_KEY_OPTIONS } from '../clients/new-public-key.ts';
import { withStores } from '../stores/with-stores.ts';

const SCHEMES = { concealed: 'Concealed', hoba: 'HOBA' } as const;

export const userKeyAdd: Command = {
  name: 'user key add',
  store: 'opens',
  summary: 'add or make a key that signs a person in without a password',
  operands: ['NAME'],
  options: {
    ...PUBLIC_KEY_OPTIONS,
    scheme: { value: 'SCHEME', help: `${Object.keys(SCHEMES).join(' or ')}; default: concealed` },
    origin: {
      value: 'ORIGIN',
      help: 'only for hoba, which takes RSA keys by --public-key: the one origin where the key is valid',
    },
  },
  run: (input, shell) =>
    withStores(shell, async (stores, config) => {
      const members = purposeOf(input, config);
      const person = await personNamed(stores.people, input.operands[0] ?? '');
      const owner = { kind: 'person', id: person.id } as const;
      const { id, scheme, name } = await addKeyFrom(input, shell, { owner, ...members }, (key) =>
        addPublicKey(stores, key),
      );
      return {
        json: { fingerprint: id, person: person.name, ...members, name },
        lines: [
          `fingerprint: ${id}`,
          `person: ${person.name}`,
          `scheme: ${scheme}`,
          `name: ${name}`,
        ],
      };
    }),
};

function purposeOf(input: Input, config: Config) {
  const asked = input.text('scheme') ?? 'concealed';
  const [, scheme] = Object.entries(SCHEMES).find(([name]) => name === asked) ?? [];
  if (scheme === undefined) {
    throw new UsageError(`--scheme must be ${Object.keys(SCHEMES).join(' or ')}`);
  }
  const origin = input.text('origin');
  if (scheme === 'Concealed') {
    if (origin !== undefined) throw new UsageError('--origin belongs to --scheme hoba');
    return { scheme };
  }
  if (input.text('out') !== undefined) {
    throw new UsageError('--scheme hoba takes RSA keys alone: give --public-key FILE');
  }
  const origins = new Set(everySpace(config).map(({ url }) => new URL(url).origin));
  const secure = [...origins].filter((one) => one.startsWith('https:'));
  if (origin === undefined || !secure.includes(origin)) {
    throw new UsageError(
      secure.length === 0
        ? '--scheme hoba needs an origin with TLS, and no space has one'
        : `--scheme hoba needs --origin with one of TLS: ${secure.join(', ')}`,
    );
  }
  return { scheme, origin };
}
