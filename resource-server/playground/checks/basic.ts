import { parseUserPass } from '#shared/auth/schemes/basic/basic.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { BASIC_STEPS } from '#shared/explain/schemes/basic.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { type Checks, ofCredentials, credentialsOf } from '../recorded.ts';

/** RFC 7617. */
export const basicChecks: Checks = ofCredentials(({ asked }) => {
  const sent = parseUserPass(credentialsOf(asked).token68 ?? '');
  if (sent === undefined) {
    return checksOf(BASIC_STEPS, 'credentials are not base64 of NAME:PASSWORD in UTF-8');
  }
  const right = sent.name === PERSON.name && sent.password === PASSWORD;
  return checksOf(BASIC_STEPS, right ? undefined : 'unknown name or wrong password');
});
