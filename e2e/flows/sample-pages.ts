import { configSchema } from '#shared/config/schema.ts';
import { withTour } from '#shared/config/tour.ts';
import type { Answer } from '#shared/http/answer.ts';
import { homePage } from '../../authz-server/pages/home.ts';
import type { View } from '../../authz-server/pages/frame/view.ts';
import { SAMPLES } from '../../authz-server/pages/views/samples.fixture.ts';
import { samples } from '../../resource-server/pages/views/samples.fixture.ts';

/** Every page of both servers, by name, with what people may see on it. */
export const PAGES: Readonly<Record<string, (view: View) => Answer>> = {
  ...SAMPLES,
  ...samples(),
  home: ({ brand: { links = [], ...brand }, language }) =>
    homePage(
      { ...withTour(configSchema.parse({})), brand: { ...brand, links: [...links] } },
      language,
    ),
};
