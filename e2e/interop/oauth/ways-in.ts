import { systemClock } from '#shared/base/clock.ts';
import {
  Authenticator,
  optionsIn,
} from '../../../authz-server/integration/authenticator.fixture.ts';
import { TestBrowser } from '../../../authz-server/integration/browser.fixture.ts';
import { unusedCodesFrom } from '../../../authz-server/integration/second-factor.fixture.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { PersonAtPages } from './person-at-pages.ts';

/** A way to sign in. */
export interface WayIn {
  /** The methods that ID tokens name in amr (RFC 8176 section 2). */
  readonly amr: readonly string[];
  /** Sets the way up for a person; resolves to a browser in which the person signs in that way. */
  readonly person: (pair: Pair, person: Person) => Promise<PersonAtPages>;
}

/** The ways, by the last part of their `acr`. */
export const WAYS: Readonly<Record<string, WayIn>> = {
  password: {
    amr: ['pwd'],
    person: async (pair, person) => new PersonAtPages(pair, person),
  },
  'second-factor': {
    amr: ['pwd', 'otp', 'mfa'],
    async person(pair, person) {
      const browser = await atHome(pair, person);
      const page = await browser.open('/account/second-factor');
      const code = unusedCodesFrom(page, { clock: systemClock });
      await browser.submit(page, { code: code() }, '/account/second-factor');
      const { name, password } = person;
      return new PersonAtPages(pair, person, ({ text }) =>
        text.includes('autocomplete="one-time-code"') ? { code: code() } : { name, password },
      );
    },
  },
  passkey: {
    amr: ['hwk', 'user', 'mfa'],
    async person(pair, person) {
      const browser = await atHome(pair, person);
      const page = await browser.open('/account/passkeys');
      const authenticator = new Authenticator(pair.issuer);
      const passkey = authenticator.create(optionsIn(page));
      await browser.submit(page, { do: 'added', passkey, name: 'Phone' }, '/account/passkeys');
      return new PersonAtPages(pair, person, (asked) => ({
        passkey: authenticator.get(optionsIn(asked)),
        name: '',
        password: '',
      }));
    },
  },
};

/** A browser in which the person has signed in by password, to set up another way. */
async function atHome({ issuer }: Pair, { name, password }: Person): Promise<TestBrowser> {
  const browser = new TestBrowser(issuer, issuer);
  await browser.submit(await browser.open('/account'), { name, password });
  return browser;
}
