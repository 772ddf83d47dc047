import {
  replaceCompromisedTokenKeys,
  rotateTokenKey,
  type TokenKeyLifecycle,
} from '#shared/keys/token-key-lifecycle.ts';
import { MOST_LIVE } from '#shared/keys/token-key-schedule.ts';
import {
  TOKEN_TYPES,
  type TokenTypeFacts,
  tokenTypeNamed,
} from '#shared/private-token/token-types.ts';
import { type Command, type Report, UsageError } from '../arguments/command.ts';
import { withTokenKeys } from '../stores/with-token-keys.ts';

type Name = TokenTypeFacts['name'];

const NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

export const privateTokenRotate: Command = {
  name: 'private-token rotate',
  store: 'opens',
  summary: 'replace a key of the PrivateToken issuer before its time',
  options: {
    type: { value: 'TYPE', required: true, help: NAMES.join(' or ') },
    compromised: { help: 'others may have its keys: refuse all their tokens at once' },
  },
  details: [
    'The new key is in the directory of the issuer now and issues after privateTokens.maxAge seconds. Tokens of the old',
    'key stay valid for privateTokens.overlap seconds from then on, or until its own end if that comes first.',
    `The command fails while the directory has ${MOST_LIVE} keys of the type.`,
    'With --compromised all keys of the type end now: the next request with one of their tokens is refused, and a new',
    'key issues at once.',
  ],
  async run(input, shell) {
    const name = nameOf(input.text('type'));
    const work = input.flag('compromised') ? endKeys : startRotation;
    return withTokenKeys(shell, (life) => work(life, name));
  },
};

async function startRotation(life: TokenKeyLifecycle, name: Name): Promise<Report> {
  const key = await rotateTokenKey(life, tokenTypeNamed(name));
  const from = new Date(key.notBefore).toISOString();
  return {
    json: { id: key.id, type: name, not_before: from },
    lines: [`Published the ${name} key ${key.id}. It issues from ${from}.`],
  };
}

async function endKeys(life: TokenKeyLifecycle, name: Name): Promise<Report> {
  const { ended, key } = await replaceCompromisedTokenKeys(life, tokenTypeNamed(name));
  const ids = ended.map(({ id }) => id);
  return {
    json: { ended: ids, type: name, id: key.id },
    lines: [
      ...ids.map((id) => `Every token of the key ${id} is refused from now on.`),
      `The ${name} key ${key.id} issues in their place.`,
    ],
  };
}

function nameOf(text: string | undefined): Name {
  const name = NAMES.find((one) => one === text);
  if (name === undefined) throw new UsageError(`--type must be ${NAMES.join(' or ')}`);
  return name;
}
