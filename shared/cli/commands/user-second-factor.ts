import {
  removeSecondFactor,
  showSecondFactor,
} from '#shared/operations/people/user-second-factor.ts';
import type { Command } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { commandOf } from '../stores/of-operation.ts';

const AFTER_REMOVAL = [
  'After the removal the password alone is sufficient. If the person needs a second factor (setting people.secondFactor),',
  'the next sign-in asks to set it up. Make sure who asks you, since anybody with the password could do that.',
];

export const userSecondFactorRemove = commandOf(removeSecondFactor, {
  details: AFTER_REMOVAL,
  lines: ({ person }) => [`Removed the second factor of ${person}. All their sign-ins have ended.`],
});

const show = commandOf(showSecondFactor, {
  details: AFTER_REMOVAL,
  lines: (shown) => {
    if (!shown.set_up) return [`${shown.person} has no second factor.`];
    const { person, created_at, used_at, recovery_codes } = shown;
    return [
      `${person} has a second factor since ${minute(created_at)}: ${lastUse(used_at)}, recovery codes left: ${recovery_codes}.`,
    ];
  },
});

export const userSecondFactor: Command = {
  ...show,
  options: {
    remove: { help: 'remove the factor, for a person who has lost phone and recovery codes' },
  },
  run: (input, shell) => (input.flag('remove') ? userSecondFactorRemove : show).run(input, shell),
};
