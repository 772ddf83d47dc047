import { ManualClock } from '#shared/base/clock.ts';
import { type DirectoryKey, DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { fetchDirectory } from './fetch-directory.ts';
import { openDirectory } from './issuer-directory.ts';
import {
  type Answers,
  directoryOf,
  readableLog,
  startIssuer,
  type TestIssuer,
  trusting,
} from './issuer.fixture.ts';

export const [first, second] = [generateVoprfKey(), generateVoprfKey()];

/** Seconds. */
export const LIFE = 3600;
export const SKEW = 5;
export const COOLDOWN = 30;
export const AGE = 600;

export const endOf = ({ notBefore }: DirectoryKey) =>
  notBefore === undefined ? undefined : notBefore + LIFE;

interface Options {
  readonly answers?: Answers;
  readonly types?: readonly TokenType[];
  readonly milliseconds?: number;
}

/** Opens the directory of an issuer that answers with `first` by default. */
export async function openTestDirectory({
  answers,
  types = [BLIND_RSA, VOPRF],
  milliseconds,
}: Options = {}) {
  const clock = new ManualClock();
  const now = clock.now() / 1000;
  const issuer = await startIssuer(answers ?? directoryOf([{ ...first, notBefore: now }]));
  const { log, lines } = readableLog();
  const send = trusting(milliseconds);
  const directory = openDirectory({
    url: issuer.origin + DIRECTORY_PATH,
    fetch: (url) => fetchDirectory(send, url),
    types,
    endOf,
    skew: SKEW,
    cooldown: COOLDOWN,
    clock,
    log,
  });
  /** The ids by which the scheme finds the keys. */
  const ids = async (type: TokenType = VOPRF) => (await directory.keys(type)).map(({ id }) => id);
  const key = async (pair: TokenKeyPair) => directory.key(pair.type, pair.id);
  return { ...directory, key, ids, clock, now, issuer, lines, [Symbol.asyncDispose]: end(issuer) };
}

const end = (issuer: TestIssuer) => () => issuer[Symbol.asyncDispose]();

/** Resolves when background fetches have reached the issuer `times` times. */
export async function askedTimes({ asked }: TestIssuer, times: number): Promise<void> {
  while (asked.length < times) await new Promise((resolve) => setImmediate(resolve));
}

export const unavailable = (retryAfter: number) => ({ name: 'KeysUnavailable', retryAfter });
