import type { Capability } from '../capability.ts'
import { makeDocumentFiles } from './document-files.ts'
import { productsSection } from './products-setup.ts'
import { rateTablesSection } from './rate-tables-setup.ts'
import { catalogueAdminRoutes } from './routes.ts'

export const catalogue: Capability = {
  routes: catalogueAdminRoutes,
  setupSections: (side) => [
    rateTablesSection(side.writer),
    productsSection({ ...side, documentFiles: makeDocumentFiles(side.pool) }),
  ],
}
