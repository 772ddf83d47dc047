import { addKeyOfUser } from '#shared/operations/people/user-key-add.ts';
import { type Input, UsageError } from '../arguments/command.ts';
import { keyFileFrom, PUBLIC_KEY_OPTIONS } from '../clients/new-public-key.ts';
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
  const { file, content, name, undo } = await keyFileFrom(input);
  return {
    given: { public_key: textOf(content), key_name: name },
    from: { public_key: file },
    undo,
  };
}

/** A key in PEM or as a JWK as it is; one in DER in PEM (RFC 7468 section 13). */
function textOf(content: Buffer): string {
  const text = content.toString();
  if (/^\s*\{|-----BEGIN/.test(text)) return text;
  return `-----BEGIN PUBLIC KEY-----\n${content.toString('base64')}\n-----END PUBLIC KEY-----\n`;
}
