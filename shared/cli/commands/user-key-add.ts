import { addKeyOfUser } from '#shared/operations/people/user-key-add.ts';
import { type Input, UsageError } from '../arguments/command.ts';
import { PUBLIC_KEY_OPTIONS, publicKeyFrom } from '../clients/new-public-key.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userKeyAdd = commandOf(addKeyOfUser, {
  source: { members: ['public_key', 'key_name'], options: PUBLIC_KEY_OPTIONS, read: keyFrom },
  lines: ({ fingerprint, person, scheme, name }) => [
    `fingerprint: ${fingerprint}`,
    `person: ${person}`,
    `scheme: ${scheme}`,
    `name: ${name}`,
  ],
});

async function keyFrom(input: Input) {
  if (input.text('scheme') === 'hoba' && input.text('out') !== undefined) {
    throw new UsageError('--scheme hoba takes RSA keys alone: give --public-key FILE');
  }
  return publicKeyFrom(input);
}
