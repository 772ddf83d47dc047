import { BY_PASSWORD, BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { textsOf } from '../texts/index.ts';
import { programName } from '../views/program.ts';
import { note } from '#shared/server/message/request-log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import type { Attempt, AttemptWith } from './attempt.ts';
import { createKnownBrowser } from './known-browser.ts';
import { createLastWay } from './last-way.ts';
import { createPasskeySignIn } from './passkey-sign-in.ts';
import { createProviderSignIn } from './provider-sign-in.ts';
import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import { bySomebody } from '../../base/acting.ts';
import { createAttemptLimits } from './attempt-limits.ts';
import { createSecondStep } from './second-step.ts';

/**
 * A form of the sign-in page has a passkey's answer, or a name and a password. The query of a URL has
 * the ticket of a person who comes back from a provider. The person is told by mail of a browser in which they have not
 * signed in before.
 */
export function createAttempt(server: PagesServer): AttemptWith {
  const ways = {
    passkey: createPasskeySignIn(server),
    password: createPasswordSignIn(server),
    provider: createProviderSignIn(server),
  };
  const { remember } = createLastWay(server);
  const browsers = createKnownBrowser(server);
  return async (ctx, form, least) => {
    const way = wayIn(form);
    const attempt = await ways[way](ctx, form, least);
    note(ctx.req, came(way, attempt));
    if ('person' in attempt) {
      if (way !== 'provider') remember(ctx, way);
      const { id, name } = attempt.person;
      // This reads the cookie of the request, not the new cookie of the answer.
      if (browsers.known(ctx, name) === undefined) {
        const language = languageOf(ctx.get('Accept-Language'));
        const texts = textsOf(language);
        const program = programName(ctx.get('User-Agent'), texts) || texts.account.someBrowser;
        await notify(server, id, 'new-sign-in', language, {
          origin: { program, address: ctx.ip },
        });
      }
    }
    return attempt;
  };
}

type Way = 'passkey' | 'password' | 'provider';

function wayIn(form: URLSearchParams): Way {
  if (form.has('arrival')) return 'provider';
  return (form.get('passkey') ?? '') === '' ? 'password' : 'passkey';
}

/** Returns the fields of the request's log line about an attempt. */
function came(way: Way, attempt: Attempt): Pick<LogFields, 'signIn' | 'signInResult'> {
  if ('person' in attempt) {
    const bySecond = attempt.means.assurance.acr === BY_SECOND_FACTOR.acr;
    return { signIn: bySecond ? 'second-factor' : way, signInResult: 'done' };
  }
  if ('problem' in attempt) return { signIn: way, signInResult: 'refused' };
  const isWrongCode = attempt.step.problem !== undefined;
  return isWrongCode
    ? { signIn: 'second-factor', signInResult: 'refused' }
    : { signIn: way, signInResult: 'goes-on' };
}

/**
 * Checks `name` and `password` of a sign-in form. Attempts count against the limits of the typed name before any
 * hashing, whether or not there is such a person. So neither the answer nor its time reveals who exists. Only after the
 * right password the page asks for a second step, if the person needs one.
 */
function createPasswordSignIn(server: PagesServer): AttemptWith {
  const { limited } = createAttemptLimits(server);
  const secondStep = createSecondStep(server);
  return (ctx, form, least) => {
    if (form.has('step')) return secondStep.finish(ctx, form);
    const typed = form.get('name') ?? '';
    return limited(ctx, usernameCaseMapped(typed) ?? typed, async (turn): Promise<Attempt> => {
      const password = form.get('password') ?? '';
      const person = await server.directory.authenticate(typed, password, turn);
      if (person === undefined) {
        const named = await server.stores.people.getByName(usernameCaseMapped(typed) ?? '');
        await bySomebody(server, ctx).refused(named?.id, 'password');
        return { problem: { kind: 'wrong' } };
      }
      const step = await secondStep.begin(ctx, person, least);
      if (step === 'use-passkey') return { problem: { kind: 'use-passkey' } };
      return step ? { step } : { person, means: { assurance: BY_PASSWORD } };
    });
  };
}
