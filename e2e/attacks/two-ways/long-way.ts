/** Preloaded by a server: replaces modules, so that the server awaits everything and caches nothing. */
import { registerHooks } from 'node:module';

const LONG: Readonly<Record<string, string>> = {
  'shared/base/awaitable.ts': 'long-awaitable.ts',
  'shared/base/recent-map.ts': 'long-recent-map.ts',
  'shared/base/recent-octets.ts': 'long-recent-octets.ts',
  'shared/base/turn.ts': 'long-turn.ts',
};
const ROOT = new URL('../../../', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const long = LONG[found.url.slice(ROOT.length)];
    return long === undefined ? found : { ...found, url: new URL(long, import.meta.url).href };
  },
});
