import { ruleText } from '#shared/http/ban-rule.ts';
import { banCached } from '#shared/operations/cache/cache-ban.ts';
import { commandOf } from '../stores/of-operation.ts';

export const cacheBan = commandOf(banCached, {
  details: [
    'URL is the URL of the space. An answer must match all options. A * matches any characters.',
    'A path without ? matches with every query.',
  ],
  lines: ({ space, banned }) => [`Banned ${ruleText(banned)} in ${space}.`],
});
