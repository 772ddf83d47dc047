import { endUser } from '#shared/operations/people/user-end.ts';
import { keysLeftLines } from '../lines/keys-left.ts';
import { OWN_SESSIONS } from '../lines/own-sessions.ts';
import { commandOf } from '../stores/of-operation.ts';

export const userEnd = commandOf(endUser, {
  details: ['`user access NAME` lists the ids.'],
  lines({ grant, sign_in, client, ...person }) {
    const parts = { grant, 'sign-in': sign_in, client };
    const ended = Object.entries(parts).flatMap(([part, id]) =>
      id === undefined ? [] : [[part, id]],
    );
    const [one] = ended;
    if (one !== undefined) return [`The ${one.join(' ')} of ${person.name} has ended.`];
    return [
      `Everything that ${person.name} had opened here has ended.`,
      OWN_SESSIONS,
      ...keysLeftLines(person),
    ];
  },
});
