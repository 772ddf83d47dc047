import { MOST_LIVE } from '#shared/keys/token-key-schedule.ts';
import { rotatePrivateTokenKey } from '#shared/operations/keys/private-token-rotate.ts';
import { commandOf } from '../stores/of-operation.ts';

export const privateTokenRotate = commandOf(rotatePrivateTokenKey, {
  details: [
    'The new key is in the directory of the issuer now and issues after privateTokens.maxAge seconds. Tokens of the old',
    'key stay valid for privateTokens.overlap seconds from then on, or until its own end if that comes first.',
    `The command fails while the directory has ${MOST_LIVE} keys of the type.`,
    'With --compromised all keys of the type end now. The next request with one of their tokens is refused, and a new key',
    'issues at once.',
  ],
  lines: ({ ended, id, type, not_before: from }) =>
    ended === undefined
      ? [`Published the ${type} key ${id}. It issues from ${from}.`]
      : [
          ...ended.map((old) => `Every token of the key ${old} is refused from now on.`),
          `The ${type} key ${id} issues in their place.`,
        ],
});
