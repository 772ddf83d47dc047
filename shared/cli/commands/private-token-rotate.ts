import { rotateTokenKey } from '#shared/private-token/token-key-lifecycle.ts';
import { MOST_LIVE } from '#shared/private-token/token-key-schedule.ts';
import {
  TOKEN_TYPES,
  type TokenTypeFacts,
  tokenTypeNamed,
} from '#shared/private-token/token-types.ts';
import { type Command, UsageError } from '../command.ts';
import { withTokenKeys } from '../with-token-keys.ts';

const NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

export const privateTokenRotate: Command = {
  name: 'private-token rotate',
  summary: 'replace a key of the token issuer before its time',
  options: {
    type: { value: 'TYPE', required: true, help: NAMES.join(' or ') },
  },
  details: [
    'The new key stands in the directory of the issuer now and issues after privateTokens.maxAge',
    'seconds. Tokens of the old one stay good for privateTokens.overlap seconds from then on, or until its',
    `own end if that comes first. It is refused while ${MOST_LIVE} keys of the type are in the directory.`,
  ],
  async run(input, shell) {
    const name = nameOf(input.text('type'));
    return withTokenKeys(shell, async (life) => {
      const key = await rotateTokenKey(life, tokenTypeNamed(name));
      const from = new Date(key.notBefore).toISOString();
      return {
        json: { id: key.id, type: name, not_before: from },
        lines: [`Published the ${name} key ${key.id}. It issues from ${from}.`],
      };
    });
  },
};

function nameOf(text: string | undefined): TokenTypeFacts['name'] {
  const name = NAMES.find((one) => one === text);
  if (name === undefined) throw new UsageError(`--type must be ${NAMES.join(' or ')}`);
  return name;
}
