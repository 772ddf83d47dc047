import { CLI } from '#shared/base/invocation.ts';
import { loadConfig } from '#shared/config/load.ts';
import { privateTokenCredentials } from '#shared/auth/schemes/private-token/client.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import type { Command, Shell } from '../arguments/command.ts';
import { type Reply } from '#shared/client/send.ts';
import { retryAfter } from '../oauth/http.ts';
import { CLIENT_OPTION, DEVICE_CLIENT } from '../oauth/sign-in.ts';
import { BOTH_SEE, ISSUER_VERIFIES, issuerAccount, siteAccount } from '../private-token/account.ts';
import { answerable } from '../private-token/challenges.ts';
import { openSendTo } from '../private-token/send-to.ts';
import { siteUrl } from '../private-token/site-url.ts';
import { tokenFor } from '../private-token/token-for.ts';
import { openWallet } from '../private-token/wallet.ts';

/**
 * The statuses of answers to a token that was refused (RFC 9577 section 2.2), or not even looked at (RFC 6585 section
 * 4, RFC 9110 section 15.6.4).
 */
const NOT_TAKEN: ReadonlySet<number> = new Set([401, 429, 503]);

export const privateTokenRedeem: Command = {
  name: 'private-token redeem',
  summary: 'GET a URL with a PrivateToken, which admits you without saying who you are',
  operands: ['URL'],
  options: CLIENT_OPTION,
  details: [
    'The command sends a token from `countersign private-token get` if one fits, or else gets one now (RFC 9577).',
    'Earlier tokens are better: if an issuer sees a request and a site sees a token in the same second, they can link the',
    'two. A sent token is spent, whatever the answer is.',
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
