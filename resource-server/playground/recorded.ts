import type { KeyObject } from 'node:crypto';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Random } from '#shared/base/random.ts';
import type { TrustedIssuer } from '#shared/auth/schemes/parts/token-issuer.ts';
import type { PublicKeys } from '#shared/stores/credentials/public-keys.ts';
import type { TokenVerifier } from '#shared/auth/tokens/token-verifier.ts';
import type { Check } from '#shared/explain/checks.ts';
import { type Credentials, parseCredentials } from '#shared/http/auth/credentials.ts';
import { contentOf, type MessageParts, partsOf } from './http1-message.ts';

/** A recorded message: its first line in words, its fields and its content. */
export interface RecordedMessage extends MessageParts {
  readonly words: readonly string[];
  /** Returns the values of all lines of a field; `name` in lower case. */
  lines(name: string): readonly string[];
}

/** A request of the client, as a server looks at it with what was before. */
export interface Recorded {
  readonly asked: RecordedMessage;
  /** The legs before. */
  readonly earlier: readonly {
    readonly asked: RecordedMessage;
    readonly answer: RecordedMessage;
  }[];
  /** The URL of the space. */
  readonly url: string;
  /** The certificate that the client has seen, in DER, and what the server exports of the connection; both of TLS. */
  readonly certificate: Buffer | undefined;
  readonly exported: Buffer | undefined;
  /** The octets that the client has drawn at random, in order: by them its secrets can be computed again. */
  readonly drawn: readonly Buffer[];
  /** The key of the playground's application. */
  readonly apiKey: string;
  /** The authorization server of the pair, and the key of the playground's client there. */
  readonly issuer: string;
  readonly clientKey: KeyObject;
  readonly redirectUri: string;
  readonly tokens: Pick<TokenVerifier, 'verify'>;
  /** Verifies tokens of the authorization server. */
  readonly pairTokens: Pick<TokenVerifier, 'verify'>;
  /** The playground's own keys, and its issuer of PrivateTokens. */
  readonly publicKeys: Pick<PublicKeys, 'get'>;
  readonly tokenIssuer: TrustedIssuer;
  readonly clock: Clock;
  readonly random: Random;
}

/** Returns what a server checks of a request, in order, by its own functions. Undefined: there is nothing to check. */
export type Checks = (recorded: Recorded) => Awaitable<readonly Check[] | undefined>;

/** Reads the octets of a message (RFC 9112 section 2.1). */
export function readRecorded(octets: Buffer): RecordedMessage {
  const parts = partsOf(octets);
  return {
    ...parts,
    content: contentOf(parts),
    words: parts.first.split(' '),
    lines: (name) =>
      parts.fields.flatMap(([of, value]) => (of.toLowerCase() === name ? value : [])),
  };
}

/** Returns the credentials of a request. */
export const credentialsOf = ({ lines }: RecordedMessage): Credentials =>
  parseCredentials(lines('authorization')[0] ?? '') ?? { scheme: '', rest: '' };

/** Fields by which a request has credentials. */
const CREDENTIALS = ['authorization', 'proxy-authorization', 'x-api-key'];

export const hasCredentials = ({ lines }: RecordedMessage): boolean =>
  CREDENTIALS.some((name) => lines(name).length > 0);

/** Checks of requests that have credentials. */
export const ofCredentials =
  (checks: Checks): Checks =>
  (recorded) =>
    hasCredentials(recorded.asked) ? checks(recorded) : undefined;

/** True if a server has taken the request: with content or without, or it leads elsewhere. */
export const isTaken = ({ words }: RecordedMessage): boolean => Number(words[1]) < 400;

/** True if the server has let the client in. */
export const isAccepted = ({ words }: RecordedMessage): boolean => words[1] === '200';
