import { loadConfig } from '#shared/config/load.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import {
  TOKEN_TYPES,
  type TokenType,
  tokenTypeNamed,
  VOPRF,
} from '#shared/private-token/token-types.ts';
import { type Command, type Input, type Shell, UsageError } from '../arguments/command.ts';
import { CLIENT_OPTION, DEVICE_CLIENT } from '../oauth/sign-in.ts';
import { BOTH_SEE, ISSUER_VERIFIES, issuerAccount, siteAccount } from '../private-token/account.ts';
import { answerable } from '../private-token/challenges.ts';
import { openSendTo } from '../private-token/send-to.ts';
import { directoryOf, getTokens } from '../private-token/get-tokens.ts';
import { keyFor } from '../private-token/issuer.ts';
import { siteUrl } from '../private-token/site-url.ts';
import { openWallet } from '../private-token/wallet.ts';
import { wholeNumber } from '../arguments/whole-number.ts';
import { CLI } from '#shared/base/invocation.ts';
import { privateTokenCredentials } from '#shared/auth/schemes/private-token/client.ts';
import type { Reply } from '#shared/client/send.ts';
import { retryAfter } from '../oauth/http.ts';
import { tokenFor } from '../private-token/token-for.ts';
import {
  listPrivateTokenKeys,
  type ShownTokenKey,
} from '#shared/operations/keys/private-token-keys.ts';
import { table } from '../lines/table.ts';
import { commandOf, listCommandOf } from '../stores/of-operation.ts';
import { MOST_LIVE } from '#shared/keys/token-key-schedule.ts';
import { rotatePrivateTokenKey } from '#shared/operations/keys/private-token-rotate.ts';

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
    count: { value: 'N', help: 'number of tokens, 1 to 100; default: 1' },
    type: { value: 'TYPE', help: `${TOKEN_TYPE_NAMES}; default: what the site asks for first` },
    ...CLIENT_OPTION,
  },
  details: [
    'The command asks the site for a challenge (RFC 9577) and its issuer for the tokens (RFC 9578).',
    'The issuer learns who you are and how many tokens you get, but not the site. The site learns neither.',
    'If the issuer requires a login, and you have no `countersign login`, you approve a login in a browser, which ends',
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

/**
 * The statuses of answers to a token that was refused (RFC 9577 section 2.2), or not verified at all (RFC 6585 section
 * 4, RFC 9110 section 15.6.4).
 */
const NOT_TAKEN: ReadonlySet<number> = new Set([401, 429, 503]);

export const privateTokenRedeem: Command = {
  name: 'private-token redeem',
  summary: 'GET a URL with a PrivateToken, which admits you without saying who you are',
  operands: ['URL'],
  options: CLIENT_OPTION,
  details: [
    'The command sends a token from `countersign private-token get` if a token fits; otherwise it gets one now (RFC 9577).',
    'Earlier tokens are better: if an issuer sees a request and a site sees a token in the same second, they can link the',
    'two. A token is spent once it is sent, whatever the answer is.',
    'If a person has to sign in for the token, and there is no terminal, the command fails at once.',
    'The body of the answer goes to standard output, everything else to standard error.',
  ],
  run: async (input, shell) => {
    const url = siteUrl(input);
    const config = await loadConfig(shell.env);
    const wallet = await openWallet(shell);
    await using send = await openSendTo(new URL(url).origin, config);
    const first = await send({ method: 'GET', url });
    if (first.status !== 401) {
      shell.note('The site asked for no token.');
      return report(first, { status: first.status, redeemed: false }, shell);
    }
    const challenges = answerable(url, first, shell.clock);
    const holder = {
      config,
      client: input.text('client') ?? DEVICE_CLIENT,
      shell,
      onTerminal: shell.terminal && !input.flag('json'),
      ...(!shell.attended && { unattended: unattended(url) }),
    };
    const { token, type, issuer, asked } = await tokenFor(challenges, wallet, holder);
    const authorization = privateTokenCredentials(token);
    const answer = await send({ method: 'GET', url, fields: { authorization } });

    const issuers = issuerAccount(issuer, asked);
    const { status } = answer;
    const taken = !NOT_TAKEN.has(status);
    const sent = { at: shell.clock.now(), taken };
    const sites = siteAccount(serverNameOf(new URL(url).origin), issuer, sent);
    if (!input.flag('json')) {
      const verified = type === VOPRF ? [ISSUER_VERIFIES] : [];
      const lines = [...issuers.lines, ...verified, ...sites.lines, BOTH_SEE];
      for (const line of lines) shell.note(line);
    }
    if (!taken) shell.note('The site did not take it.');
    const learned = { issuer: issuers.json, site: sites.json };
    return report(answer, { status, redeemed: taken, learned }, shell);
  },
};

const unattended = (url: string) =>
  `Somebody has to sign in to get a token, and there is no terminal to ask on. Get tokens in advance: ${CLI} private-token get ${url}`;

function report(answer: Reply, json: object, shell: Shell) {
  shell.note(`HTTP ${answer.status}`);
  const after = retryAfter(answer);
  if (after !== undefined) shell.note(`Try again in ${after} s.`);
  return {
    json: { ...json, body: answer.body.toString() },
    lines: [],
    content: answer.body,
    failed: answer.status >= 400,
  };
}

/** The words before the time at which a key next changes its state. */
const MEANING: Record<Exclude<ShownTokenKey['state'], 'retired'>, string> = {
  published: 'published, issues from',
  issuing: 'issues, good until',
  retiring: 'retiring: behind the newer one, good until',
};

export const privateTokenKeys = listCommandOf(listPrivateTokenKeys, {
  details: [
    'Tokens of a key are valid until its end. The command only counts retired keys (--json lists them). They stay stored so',
    'that no new key gets a truncated id that clients may still send.',
  ],
  nothing: () => 'There is no key yet.',
  lines: (items: readonly ShownTokenKey[], widths) =>
    table(['id', 'type', 'state', 'until'], items.flatMap(row), widths),
  end(items: readonly ShownTokenKey[]) {
    const retired = items.filter(({ state }) => state === 'retired').length;
    return retired === 0 ? [] : [`Retired: ${retired}`];
  },
});

const row = ({ id, type, state, not_before: from, until = '' }: ShownTokenKey) =>
  state === 'retired' ? [] : [[id, type, MEANING[state], state === 'published' ? from : until]];

export const privateTokenRotate = commandOf(rotatePrivateTokenKey, {
  details: [
    'The new key is in the directory of the issuer now and signs after privateTokens.maxAge seconds. Tokens of the old',
    'key stay valid for privateTokens.overlap seconds from then on, or until its own end if that comes first.',
    `The command fails while the directory has ${MOST_LIVE} keys of the type.`,
    'With --compromised all keys of the type end now. The next request with one of their tokens is refused, and a new key',
    'signs at once.',
  ],
  lines: ({ ended, id, type, not_before: from }) =>
    ended === undefined
      ? [`Published the ${type} key ${id}. It issues from ${from}.`]
      : [
          ...ended.map((old) => `Every token of the key ${old} is refused from now on.`),
          `The ${type} key ${id} issues in their place.`,
        ],
});
