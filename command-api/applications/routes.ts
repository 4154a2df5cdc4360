import type { Route } from '#infra/http/route.ts'
import { makeApplications, type ApplicationsDeps } from './applications.ts'
import type { KnownCustomer } from './customer-given.ts'
import { quoteRoutes } from './quote-routes.ts'
import { saveRoutes } from './save-routes.ts'
import { startRoute } from './start-route.ts'

export type ApplicationRoutesDeps = ApplicationsDeps & { readonly knownCustomer: KnownCustomer }

/** Everything that changes an application: starting it, what is saved into it, its quotes. */
export const applicationRoutes = ({ knownCustomer, ...deps }: ApplicationRoutesDeps): Route[] => {
  const applications = makeApplications(deps)
  return [
    startRoute({ applications, knownCustomer }),
    ...saveRoutes({ applications, knownCustomer }),
    ...quoteRoutes(applications),
  ]
}
