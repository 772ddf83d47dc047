import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { seal } from '#shared/keys/seal.ts';
import {
  checkCode,
  makeSecondFactor,
  newSecret,
} from '#shared/people/second-factor/second-factor.ts';
import { hotp, stepAt } from '#shared/people/second-factor/totp.ts';
import type { AuthzServer } from '../base/server.ts';
import type { Page } from './browser.fixture.ts';

type Server = Pick<AuthzServer, 'stores' | 'master' | 'clock' | 'random'>;

/** The app of a person that has a secret: the code of now, or of so many steps later. */
export const appOf =
  (secret: Buffer, { clock }: Pick<Server, 'clock'>) =>
  (drift = 0): string =>
    hotp(secret, stepAt(clock.now()) + drift);

/** Sets a second factor up in the store, as if long ago. Returns the person's app and their recovery codes. */
export async function withSecondFactor(server: Server, name: string) {
  const { id = '' } = (await server.stores.people.getByName(name)) ?? {};
  const secret = newSecret(systemRandom);
  const past = { ...server, clock: new ManualClock(server.clock.now() - 86_400_000) };
  const made = makeSecondFactor(past, id, secret, appOf(secret, past)());
  if (made === undefined) throw new Error('it is no code of now');
  await server.stores.secondFactors.add(made.factor);
  return { id, code: appOf(secret, server), codes: made.codes };
}

/** Whether a code of a person is right, and is used up by this. */
export async function usesCode(server: Server, id: string, typed: string): Promise<boolean> {
  const checked = await checkCode(server, id, typed);
  return typeof checked !== 'string' && (await checked.use()) !== undefined;
}

/** The secret that a page shows to be typed into an app. */
function secretOn({ text }: Pick<Page, 'text'>): Buffer {
  const [, shown = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(text) ?? [];
  return secretFrom(shown);
}

/** The octets of a secret as it is typed, in groups (RFC 4648 section 6). */
export function secretFrom(typed: string): Buffer {
  const bits = (typed.match(/\S/g) ?? [])
    .map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'))
    .join('');
  const octets = bits.match(/.{8}/g) ?? [];
  return Buffer.from(octets.map((octet) => Number.parseInt(octet, 2)));
}

/** The app that was given the secret of a page. */
export const appFrom = (page: Pick<Page, 'text'>, server: Pick<Server, 'clock'>) =>
  appOf(secretOn(page), server);

/**
 * The app of a person who never waits: no code is of the same step as one before, because each step works once. The code of
 * the next step is good already (RFC 6238 section 5.2), and a third within a step there is not.
 */
export function unusedCodes(secret: Buffer, { clock }: Pick<Server, 'clock'>): () => string {
  let last = -Infinity;
  return () => {
    const now = stepAt(clock.now());
    last = Math.max(now, last + 1);
    if (last > now + 1) throw new Error('both codes of this step are given');
    return hotp(secret, last);
  };
}

/** The same for the secret of a page. */
export const unusedCodesFrom = (page: Pick<Page, 'text'>, server: Pick<Server, 'clock'>) =>
  unusedCodes(secretOn(page), server);

/** The recovery codes that a page shows. */
export const codesOn = ({ text }: Page): readonly string[] =>
  [...text.matchAll(/<code>([0-9A-Z]{5}-[0-9A-Z]{5})<\/code>/g)].map(([, code = '']) => code);

/** The step that a form carries. */
export const stepOn = ({ forms }: Page): string | undefined =>
  forms.flatMap(({ fields }) => fields).find(([name]) => name === 'step')?.[1];

/** A state that somebody made up, with another secret. */
export const forgedStep = (path: string, state: object): string =>
  seal(systemRandom(32), `second step ${path}`, JSON.stringify(state), systemRandom);
