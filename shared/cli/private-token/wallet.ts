import * as z from 'zod';
import type { Clock } from '#shared/base/clock.ts';
import { decodeBase64url, encodePadded } from '#shared/private-token/base64url.ts';
import { parseToken, type Token } from '#shared/private-token/token.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { lockPrivate, privatePath, readPrivate, writePrivate } from '../files/private-file.ts';

const bytes = z.string().transform((text, context) => {
  const decoded = decodeBase64url(text);
  if (decoded !== undefined && parseToken(decoded) !== undefined) return decoded;
  context.addIssue('not a token');
  return z.NEVER;
});

/**
 * Tokens that wait to be redeemed. Each holds the digest of all fields of its challenge (RFC 9577 section
 * 2.2.1), by which it is found again; the file names no site.
 */
const walletSchema = z.object({
  tokens: z.array(
    z.object({
      token: bytes,
      /** Milliseconds since the epoch: no site takes it from then on. */
      expires_at: z.number().optional(),
    }),
  ),
});

type Entry = z.output<typeof walletSchema>['tokens'][number];

/** The tokens of this user, in a file beside the login. */
export interface Wallet {
  readonly path: string;
  /** Stores tokens. `until`: their expiry in milliseconds since the epoch. Throws `Failure`. */
  put(tokens: readonly Buffer[], until: number | undefined): Promise<void>;
  /**
   * Takes out the oldest token that fits. When this resolves, the token is no longer on disk, so that no process can
   * send it a second time. Throws `Failure`.
   */
  take(fits: (token: Token) => boolean): Promise<Buffer | undefined>;
  /** Returns the number of tokens that fit. Throws `Failure`. */
  count(fits: (token: Token) => boolean): Promise<number>;
}

/** Throws `Failure` when there is no place for the file, others may read it, or it is something else. */
export async function openWallet(shell: Shell): Promise<Wallet> {
  const { clock, random, env } = shell;
  const path = privatePath('private-tokens.json', env);
  if (path === undefined) throw new Failure('there is no place for tokens: set HOME');
  const fitting = (fits: (token: Token) => boolean) => (entry: Entry) => {
    const token = parseToken(entry.token);
    return token !== undefined && fits(token);
  };
  // If the wallet cannot be written, this fails before the issuer is asked for tokens.
  await lockPrivate(path, shell, () => readTokens(path, clock));
  return {
    path,
    put: async (tokens, until) =>
      lockPrivate(path, shell, async () => {
        const kept = await readTokens(path, clock);
        const added = tokens.map((token) => ({ token, expires_at: until }));
        await writePrivate(path, written([...kept, ...added]), random);
      }),
    take: async (fits) =>
      lockPrivate(path, shell, async () => {
        const kept = await readTokens(path, clock);
        const taken = kept.find(fitting(fits));
        if (taken === undefined) return undefined;
        await writePrivate(path, written(kept.filter((entry) => entry !== taken)), random);
        return taken.token;
      }),
    count: async (fits) => (await readTokens(path, clock)).filter(fitting(fits)).length,
  };
}

/** Returns the tokens that are not past their end. */
async function readTokens(path: string, clock: Clock): Promise<readonly Entry[]> {
  const remedy = 'does not hold tokens: delete it; what was in it is lost';
  const { tokens = [] } = (await readPrivate(path, walletSchema, remedy)) ?? {};
  return tokens.filter(({ expires_at: end }) => end === undefined || end > clock.now());
}

const written = (entries: readonly Entry[]) => ({
  tokens: entries.map((entry) => ({ ...entry, token: encodePadded(entry.token) })),
});
