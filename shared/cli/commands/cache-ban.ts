import { type Ban, ruleText, toBan } from '#shared/http/ban-rule.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { cachedAddress } from '../stores/cached-space.ts';
import { type Command, type Input, UsageError } from '../arguments/command.ts';
import { withStores } from '../stores/with-stores.ts';

export const cacheBan: Command = {
  name: 'cache ban',
  store: 'opens',
  summary: 'remove stored answers of a space by path, tag or status from all caches',
  operands: ['URL'],
  options: {
    path: {
      value: 'PATH',
      help: 'answers of this path below the space, such as "/images/*" or "*.png"',
    },
    tag: {
      value: 'TAG',
      help: 'answers with this tag from the application (Surrogate-Key, Cache-Tag)',
    },
    status: { value: 'STATUS', help: 'answers with this status: 404, 5xx' },
    soft: { help: 'keep the answers, but ask the application again before using them' },
  },
  details: [
    'URL is that of the space. An answer must match all options. A * stands for any characters.',
    'A path without ? matches with every query.',
  ],
  run: async (input, shell) => {
    const config = await loadConfig(shell.env);
    const { rule, soft } = banOf(input);
    const { space } = cachedAddress(config, input.operands[0] ?? '');
    const work = async ({ invalidations }: Stores) => {
      await invalidations.add([{ space, kind: 'ban', value: JSON.stringify(rule), soft }]);
      return {
        json: { space, banned: rule, soft },
        lines: [`Banned ${ruleText(rule)} in ${space}.`],
      };
    };
    return withStores(shell, work, config);
  },
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
