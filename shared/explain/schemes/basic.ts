import { parseUserPass } from '#shared/auth/schemes/basic/basic.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

/** The checks of Basic, as the scheme's `authenticate` makes them. */
export const BASIC_STEPS: readonly Step[] = [
  {
    name: 'tls',
    check: 'The connection uses TLS, or does not leave this machine.',
    section: 'RFC 7617 section 4',
    refusals: ['basic-clear-text'],
  },
  {
    name: 'form',
    check: 'The credentials are base64 of a name, a colon and a password in UTF-8.',
    section: 'RFC 7617 section 2',
  },
  {
    name: 'password',
    check: 'The name exists and the password is right.',
    section: 'RFC 7617 section 2',
    refusals: ['basic-password'],
  },
];

/** RFC 7617. */
export const explainBasic: ExplainedCredentials = ({ token68 }) => {
  const sent = token68 === undefined ? undefined : parseUserPass(token68);
  const refusal = sent ? undefined : refuse('basic-form');
  return {
    parts: sent
      ? [
          { name: 'name', value: sent.name },
          { name: 'password', value: sent.password },
        ]
      : [],
    checks: checksOf(BASIC_STEPS, refusal, {
      tls: 'Only the server knows its connection.',
      password: 'The server looks for the name and checks the password.',
    }),
  };
};
