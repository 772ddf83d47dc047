import { BY_SECOND_FACTOR } from '#shared/people/access/assurance.ts';
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
import { createPasswordSignIn } from './password-sign-in.ts';

/**
 * A form of the sign-in page has a passkey's answer, or a name and a password. The person is told by mail of a browser
 * in which they have not signed in before.
 */
export function createAttempt(server: PagesServer): AttemptWith {
  const [withPasskey, withPassword] = [createPasskeySignIn(server), createPasswordSignIn(server)];
  const { remember } = createLastWay(server);
  const browsers = createKnownBrowser(server);
  return async (ctx, form, least) => {
    const way = (form.get('passkey') ?? '') === '' ? 'password' : 'passkey';
    const attempt = await (way === 'passkey' ? withPasskey : withPassword)(ctx, form, least);
    note(ctx.req, came(way, attempt));
    if ('person' in attempt) {
      remember(ctx, way);
      const { id, name } = attempt.person;
      // This reads the cookie of the request, not the one that the answer sets.
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

/** Returns what the line of the request says of an attempt. */
function came(
  way: 'passkey' | 'password',
  attempt: Attempt,
): Pick<LogFields, 'signIn' | 'signInResult'> {
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
