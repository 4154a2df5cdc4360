import type { Route } from '#infra/http/route.ts'
import { apiApplicationRoutes } from './api-application-routes.ts'
import { organisationRoutes, type OrganisationDeps } from './organisation-routes.ts'

/** The operator's routes for organisations and their API applications. The token endpoint is in token.ts. */
export const accessRoutes = (deps: OrganisationDeps): Route[] => [
  ...organisationRoutes(deps),
  ...apiApplicationRoutes(deps),
]
