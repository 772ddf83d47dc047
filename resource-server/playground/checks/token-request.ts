import { REQUEST_SCOPE } from '#shared/config/token-spaces.ts';
import { checksOf } from '#shared/explain/checks.ts';
import { TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import { REQUEST_TYPE } from '#shared/private-token/issuer-directory.ts';
import { originOfServer } from '#shared/private-token/server-name.ts';
import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import { parseTokenRequest } from '#shared/private-token/token-request.ts';
import { type Checks, credentialsOf, ofCredentials, type Recorded } from '../recorded.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';

const STEPS: readonly CheckStep<Recorded>[] = [
  {
    check: `The access token has the scope ${REQUEST_SCOPE}.`,
    section: 'RFC 6750 section 3.1',
    async finds({ asked, tokens }) {
      const verdict = await tokens.verify(credentialsOf(asked).token68 ?? '', [audienceOf(asked)]);
      const scopes = verdict.kind === 'verified' && 'scopes' in verdict.principal;
      return scopes && verdict.principal.scopes?.has(REQUEST_SCOPE)
        ? undefined
        : `lacks ${REQUEST_SCOPE}`;
    },
  },
  {
    check: 'The content is a token request, of this media type.',
    section: 'RFC 9578 section 6.1',
    finds: ({ asked }) =>
      asked.lines('content-type')[0] === REQUEST_TYPE && parseTokenRequest(asked.content)
        ? undefined
        : 'it is no token request',
  },
  {
    check: 'It is for a key that the issuer has now.',
    section: 'RFC 9578 section 6.2',
    async finds({ asked, tokenIssuer }) {
      const { type, truncatedKeyId: id } = parseTokenRequest(asked.content) ?? {};
      const keys = type === undefined ? [] : await tokenIssuer.keys(type);
      return keys.some((key) => truncatedKeyId(key.id) === id) ? undefined : 'there is no such key';
    },
  },
];

const audienceOf = ({ lines, words }: Recorded['asked']): string =>
  originOfServer(lines('host')[0] ?? '') + words[1];

/** A request to an issuer of PrivateTokens. It cannot see which token it signs, so it checks nothing of that. */
export const tokenRequestChecks: Checks = ofCredentials(async (recorded) => {
  const { asked, tokens } = recorded;
  const verdict = await tokens.verify(credentialsOf(asked).token68 ?? '', [audienceOf(asked)]);
  const refusal = verdict.kind === 'verified' ? undefined : verdict;
  return [...checksOf(TOKEN_STEPS, refusal), ...(await checksInOrder(STEPS, recorded))];
});
