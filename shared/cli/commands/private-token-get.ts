import { loadConfig } from '#shared/config/load.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { TOKEN_TYPES, type TokenType, tokenTypeNamed } from '#shared/private-token/token-types.ts';
import { type Command, type Input, UsageError } from '../arguments/command.ts';
import { CLIENT_OPTION, DEVICE_CLIENT } from '../oauth/sign-in.ts';
import { BOTH_SEE, issuerAccount, siteAccount } from '../private-token/account.ts';
import { answerable } from '../private-token/challenges.ts';
import { openSendTo } from '../private-token/send-to.ts';
import { directoryOf, getTokens } from '../private-token/get-tokens.ts';
import { keyFor } from '../private-token/issuer.ts';
import { siteUrl } from '../private-token/site-url.ts';
import { openWallet } from '../private-token/wallet.ts';
import { wholeNumber } from '../arguments/whole-number.ts';

const NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

/** Values of `--type`, for the help. */
const TOKEN_TYPE_NAMES = NAMES.join(' or ');

/** The type that `--type` names, if it is given. Throws `UsageError`. */
function tokenTypeOption(input: Input): TokenType | undefined {
  const text = input.text('type');
  if (text === undefined) return undefined;
  const name = NAMES.find((one) => one === text);
  if (name === undefined) throw new UsageError(`--type must be ${TOKEN_TYPE_NAMES}`);
  return tokenTypeNamed(name);
}

export const privateTokenGet: Command = {
  name: 'private-token get',
  summary: 'get PrivateTokens for a site in advance; they admit you without saying who you are',
  operands: ['URL'],
  options: {
    count: { value: 'N', help: 'how many, 1 to 100; default: 1' },
    type: { value: 'TYPE', help: `${TOKEN_TYPE_NAMES}; default: what the site asks for first` },
    ...CLIENT_OPTION,
  },
  details: [
    'The command asks the site for a challenge (RFC 9577) and its issuer for the tokens (RFC 9578).',
    'The issuer learns who asks for how many tokens, but not for which site. The site learns neither.',
    'If the issuer requires a login, and you have none by `countersign login`, you approve one now in a browser; it ends',
    'at once. Tokens are kept in ~/.config/countersign/private-tokens.json, which only its owner can read, until',
    '`countersign private-token redeem` spends one.',
  ],
  run: async (input, shell) => {
    const url = siteUrl(input);
    const count = wholeNumber(input, 'count', 1, 100) ?? 1;
    const type = tokenTypeOption(input);
    const config = await loadConfig(shell.env);
    const wallet = await openWallet(shell);
    await using send = await openSendTo(new URL(url).origin, config);
    const answer = await send({ method: 'GET', url });
    const [challenge] = answerable(url, answer, shell.clock, type);

    const { issuer, until } = challenge;
    const directory = await directoryOf(issuer, config);
    const key = keyFor(challenge, directory, shell.clock);
    const { tokens, failure, login } = await getTokens(
      challenge,
      directory.requestUrl,
      key,
      count,
      {
        config,
        client: input.text('client') ?? DEVICE_CLIENT,
        shell,
        onTerminal: shell.terminal && !input.flag('json'),
      },
    );
    await wallet.put(tokens, until);

    const name = serverNameOf(new URL(url).origin);
    const asked = { for: 'tokens', type: key.type, count: tokens.length, login } as const;
    const issuers = issuerAccount(issuer, { ...asked, at: shell.clock.now() });
    const sites = siteAccount(name, issuer, undefined);
    return {
      json: {
        url,
        type: TOKEN_TYPES[key.type].name,
        count: tokens.length,
        ...(until !== undefined && { expires_at: until }),
        file: wallet.path,
        learned: { issuer: issuers.json, site: sites.json },
        ...(failure && { error: failure.message }),
      },
      lines: [
        `${tokens.length} of ${count} tokens for ${name}, kept in ${wallet.path}`,
        ...(until === undefined ? [] : [`Good until ${new Date(until).toISOString()}`]),
        ...(failure ? [failure.message] : []),
        ...issuers.lines,
        ...sites.lines,
        BOTH_SEE,
      ],
      failed: failure !== undefined,
    };
  },
};
