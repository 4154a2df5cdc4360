import type { BankAccountCheck } from '#domain/bank-account.ts'
import type { Route } from '#infra/http/route.ts'
import { makeApplications, type ApplicationsDeps } from './applications.ts'
import type { People } from './customer-given.ts'
import { directDebitRoutes } from './direct-debit-routes.ts'
import { checkoutRoutes } from './checkout-routes.ts'
import { quoteRoutes } from './quote-routes.ts'
import { saveRoutes } from './save-routes.ts'
import { startRoute } from './start-route.ts'
import { teamRoutes } from './team-routes.ts'

export type ApplicationRoutesDeps = ApplicationsDeps & {
  readonly people: People
  readonly checkBankAccount: BankAccountCheck
}

/** Everything that changes an application: starting it, what is saved into it, its quotes. */
export const applicationRoutes = ({ people, checkBankAccount, ...deps }: ApplicationRoutesDeps): Route[] => {
  const applications = makeApplications(deps)
  return [
    startRoute({ applications, people }),
    ...saveRoutes({ applications, people }),
    ...quoteRoutes(applications),
    ...directDebitRoutes({ applications, checkBankAccount }),
    ...checkoutRoutes({ applications }),
    ...teamRoutes(applications),
  ]
}
