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

/**
 * Returns a person's authenticator app with a secret. The app gives the present code, or the code of a number of steps
 * later.
 */
export const appOf =
  (secret: Buffer, { clock }: Pick<Server, 'clock'>) =>
  (drift = 0): string =>
    hotp(secret, stepAt(clock.now()) + drift);

/** Sets up a second factor in the store, as if a long time ago. Returns the person's app and recovery codes. */
export async function withSecondFactor(server: Server, name: string) {
  const { id = '' } = (await server.stores.people.getByName(name)) ?? {};
  const secret = newSecret(systemRandom);
  const past = { ...server, clock: new ManualClock(server.clock.now() - 86_400_000) };
  const made = makeSecondFactor(past, id, secret, appOf(secret, past)());
  if (made === undefined) throw new Error('it is no code of now');
  await server.stores.secondFactors.add(made.factor);
  return { id, code: appOf(secret, server), codes: made.codes };
}

/** Returns whether a code of a person is right; a right code is used up. */
export async function usesCode(server: Server, id: string, typed: string): Promise<boolean> {
  const checked = await checkCode(server, id, typed);
  return typeof checked !== 'string' && (await checked.use()) !== undefined;
}

/** Returns the secret that a page shows for typing it into an app. */
function secretOn({ text }: Pick<Page, 'text'>): Buffer {
  const [, shown = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(text) ?? [];
  return secretFrom(shown);
}

/** Returns the octets of a secret that is typed in groups (RFC 4648 section 6). */
export function secretFrom(typed: string): Buffer {
  const bits = (typed.match(/\S/g) ?? [])
    .map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'))
    .join('');
  const octets = bits.match(/.{8}/g) ?? [];
  return Buffer.from(octets.map((octet) => Number.parseInt(octet, 2)));
}

/** Returns an app that has the secret of a page. */
export const appFrom = (page: Pick<Page, 'text'>, server: Pick<Server, 'clock'>) =>
  appOf(secretOn(page), server);

/**
 * Returns the app of a person who never waits. Each code belongs to another step, since each step works once. The code
 * of the next step is already valid (RFC 6238 section 5.2); a third code within a step does not exist.
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

/** As `unusedCodes`, with the secret of a page. */
export const unusedCodesFrom = (page: Pick<Page, 'text'>, server: Pick<Server, 'clock'>) =>
  unusedCodes(secretOn(page), server);

/** Returns the recovery codes that a page shows. */
export const codesOn = ({ text }: Page): readonly string[] =>
  [...text.matchAll(/<code>([0-9A-Z]{5}-[0-9A-Z]{5})<\/code>/g)].map(([, code = '']) => code);

/** Returns the step that a form contains. */
export const stepOn = ({ forms }: Page): string | undefined =>
  forms.flatMap(({ fields }) => fields).find(([name]) => name === 'step')?.[1];

/** Returns a state that an attacker made up, with another secret. */
export const forgedStep = (path: string, state: object): string =>
  seal(systemRandom(32), `second step ${path}`, JSON.stringify(state), systemRandom);
