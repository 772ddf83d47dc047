import type { PagesServer } from '../../base/server.ts';
import { startPath } from '../../sources/sources.ts';
import type { SourceLink } from '../views/sign-in.ts';

/** Returns the links with which a sign-in page offers the sources. `goOn`: the path after the sign-in. */
export const sourceLinks = (
  { sources }: Pick<PagesServer, 'sources'>,
  goOn: string,
): readonly SourceLink[] =>
  [...sources].map(([name, { title, provider }]) =>
    provider.isDown()
      ? { title }
      : { title, href: `${startPath(name)}?${new URLSearchParams({ continue: goOn }).toString()}` },
  );
