import { addKey } from '#shared/operations/keys/key-add.ts';
import { type Input, UsageError } from '../arguments/command.ts';
import { keyLines } from '../clients/new-key.ts';
import { PUBLIC_KEY_OPTIONS, publicKeyFrom } from '../clients/new-public-key.ts';
import { commandOf } from '../stores/of-operation.ts';

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
}
