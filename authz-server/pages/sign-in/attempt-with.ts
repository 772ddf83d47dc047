import { languageOf } from '#shared/pages/language.ts';
import type { PagesServer } from '../../base/server.ts';
import { notify } from '#shared/mail/notify.ts';
import { textsOf } from '../texts/index.ts';
import { programName } from '../views/program.ts';
import type { AttemptWith } from './attempt.ts';
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
