import { auditPage } from './audit-page.ts';
import { commandsPage } from './commands-page.ts';
import { conformancePage } from './conformance-page.ts';
import { openApi } from './api/openapi.ts';
import { claimsPage } from './claims-page.ts';
import { endpointsPage } from './endpoints-page.ts';
import { leniencyPage } from './leniency-page.ts';
import { limitsPage } from './limits-page.ts';
import { llmsPage } from './llms-page.ts';
import { logPage } from './log-page.ts';
import { metricsPage } from './metrics-page.ts';
import { methodsPage } from './methods-page.ts';
import { outagesPage } from './outages-page.ts';
import { problemsPage } from './problems-page.ts';
import { refusalsPage } from './refusals-page.ts';
import { settingsPage } from './settings-page.ts';
import { standardsPage } from './standards-page.ts';

/** The generated pages by their paths from the top. */
export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/llms.txt': llmsPage,
  'docs/reference/audit-events.md': auditPage,
  'docs/reference/commands.md': commandsPage,
  'docs/reference/conformance.md': conformancePage,
  'docs/reference/endpoints.md': endpointsPage,
  'docs/reference/leniency.md': leniencyPage,
  'docs/reference/limits.md': limitsPage,
  'docs/reference/log-fields.md': logPage,
  'docs/reference/metrics.md': metricsPage,
  'docs/reference/methods.md': methodsPage,
  'docs/reference/openapi.json': openApi,
  'docs/reference/outages.md': outagesPage,
  'docs/reference/problem-types.md': problemsPage,
  'docs/reference/refusals.md': refusalsPage,
  'docs/reference/scopes-and-claims.md': claimsPage,
  'docs/reference/settings.md': settingsPage,
  'docs/reference/standards.md': standardsPage,
};

/** The paths of outdated pages; `read` returns the text of a file, or undefined. */
export function stalePages(
  read: (path: string) => string | undefined,
  pages: typeof PAGES = PAGES,
): readonly string[] {
  return Object.entries(pages)
    .filter(([path, write]) => read(path) !== write())
    .map(([path]) => path);
}
