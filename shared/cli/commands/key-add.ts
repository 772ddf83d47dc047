import { addKey } from '#shared/operations/keys/key-add.ts';
import { type Input, UsageError } from '../arguments/command.ts';
import { keyLines } from '../clients/new-key.ts';
import { PUBLIC_KEY_OPTIONS, publicKeyFrom } from '../clients/new-public-key.ts';
import { commandOf } from '../stores/of-operation.ts';
import type { Recorder } from '#shared/audit/recorder.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { addPublicKey } from '#shared/people/key-purposes.ts';
import {
  type Command,
  type Input,
  type Report,
  type Shell,
  UsageError,
} from '../arguments/command.ts';
import { expiresAt, expiresOption } from '../arguments/expires-option.ts';
import { addKey, keyLines } from '../clients/new-key.ts';
import { addKeyFrom, PUBLIC_KEY_OPTIONS } from '../clients/new-public-key.ts';
import { realmOfKeys } from '../arguments/realm-of-keys.ts';
import { scopeTokens } from '../arguments/scope-tokens.ts';
import { visibleName } from '../arguments/visible-name.ts';
import { withStores } from '../stores/with-stores.ts';

export const keyAdd = commandOf(addKey, {
  source: { members: ['public_key', 'key_name'], options: PUBLIC_KEY_OPTIONS, read: keyFrom },
  lines: (key) =>
    'key' in key
      ? keyLines(key)
      : Object.entries(key).map(([member, value]) => `${member}: ${value}`),
});

async function keyFrom(input: Input) {
  if (input.flag('concealed')) return publicKeyFrom(input);
  const given = Object.keys(PUBLIC_KEY_OPTIONS).find((option) => input.flag(option));
  if (given !== undefined) throw new UsageError(`--${given} belongs to --concealed`);
  return { given: {} };
export const keyAdd: Command = {
  name: 'key add',
  store: 'opens',
  summary: 'make an API key for an application; prints it (shown only this once)',
  options: {
    application: { value: 'NAME', required: true, help: 'the application that the key identifies' },
    ...OF_API_KEYS,
    concealed: {
      help: 'make a key for Concealed instead; only its public half is stored',
    },
    ...PUBLIC_KEY_OPTIONS,
  },
  run: async (input, shell) => {
    const concealed = input.flag('concealed');
    refuseForeign(input, concealed);
    const application = visibleName('--application', input.text('application') ?? '');
    return concealed
      ? addConcealedKey(input, shell, application)
      : addApiKey(input, shell, application);
  },
};

function refuseForeign(input: Input, concealed: boolean): void {
  const foreign = Object.keys(concealed ? OF_API_KEYS : PUBLIC_KEY_OPTIONS);
  const given = foreign.find((option) => input.flag(option));
  if (given === undefined) return;
  throw new UsageError(
    `--${given} ${concealed ? 'is of API keys: leave out --concealed' : 'belongs to --concealed'}`,
  );
}

async function addConcealedKey(input: Input, shell: Shell, application: string): Promise<Report> {
  const owner = { kind: 'application', id: application } as const;
  const members = { owner, scheme: 'Concealed' } as const;
  const { id, scheme, name } = await addKeyFrom(input, shell, members, (made) =>
    withStores(shell, (stores, _, recorder) => addPublicKey(stores, made, recorder)),
  );
  const key = { id, application, scheme, name };
  return { json: key, lines: Object.entries(key).map(([member, value]) => `${member}: ${value}`) };
}

async function addApiKey(input: Input, shell: Shell, application: string): Promise<Report> {
  const config = await loadConfig(shell.env);
  const expires_at = expiresAt(input, shell.clock);
  const members = {
    application,
    realm: realmOfKeys(config, input.text('realm')),
    scopes: scopeTokens('--scope', input.text('scope')),
    ...(expires_at !== undefined && { expires_at }),
  };
  const work = (_stores: Stores, _config: Config, recorder: Recorder) =>
    addKey(recorder, shell, members);
  const key = await withStores(shell, work, config);
  return { json: key, lines: keyLines(key) };
}
