import { configSchema } from '#shared/config/schema.ts';
import { withTour } from '#shared/config/tour.ts';
import type { Answer } from '#shared/http/answer.ts';
import { homePage } from '../../authz-server/pages/home.ts';
import type { View } from '../../authz-server/pages/frame/view.ts';
import { SAMPLES } from '../../authz-server/pages/views/samples.fixture.ts';
import { samples } from '../../resource-server/pages/views/samples.fixture.ts';

const ALL: Readonly<Record<string, (view: View) => Answer>> = {
  ...SAMPLES,
  ...samples(),
  home: ({ brand: { links = [], ...brand }, language }) =>
    homePage(
      { ...withTour(configSchema.parse({})), brand: { ...brand, links: [...links] } },
      language,
    ),
};

/** A page without the field that makes the browser leave it at once. */
function still({ fields: { Refresh: _goesOn, ...fields }, ...page }: Answer): Answer {
  return { ...page, fields };
}

/** Every page of both servers, by name, as people may see it. */
export const PAGES = Object.fromEntries(
  Object.entries(ALL).map(([name, page]) => [name, (view: View) => still(page(view))]),
);
