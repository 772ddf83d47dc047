import { type Ban, ruleText, toBan } from '#shared/http/ban-rule.ts';
import { cachedAddress } from '../stores/cached-space.ts';
import { type Command, type Input, UsageError } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const cacheBan: Command = {
  name: 'cache ban',
  store: 'opens',
  summary: 'have all caches of a space forget what is so and so',
  operands: ['URL'],
  options: {
    path: { value: 'PATH', help: 'of which path below the space, as in "/images/*" or "*.png"' },
    tag: { value: 'TAG', help: 'which the application gave it (Surrogate-Key, Cache-Tag)' },
    status: { value: 'STATUS', help: 'with which it was answered: 404, 5xx' },
    soft: { help: 'it is not forgotten, but asked for again before it is used' },
  },
  details: [
    'URL: of the space. Of several options all have to be true. A * stands for any characters;',
    'a path without ? is meant with any query.',
  ],
  run: (input, shell) =>
    withStores(shell, async ({ invalidations }, config) => {
      const { rule, soft } = banOf(input);
      const { space } = cachedAddress(config, input.operands[0] ?? '');
      await invalidations.add([{ space, kind: 'ban', value: JSON.stringify(rule), soft }]);
      return {
        json: { space, banned: rule, soft },
        lines: [`Banned ${ruleText(rule)} in ${space}.`],
      };
    }),
};

function banOf({ text, flag }: Input): Ban {
  const given = ['path', 'tag', 'status'].flatMap((name) => {
    const value = text(name);
    return value === undefined ? [] : [[name, value]];
  });
  try {
    return toBan({ ...Object.fromEntries(given), soft: flag('soft') });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
