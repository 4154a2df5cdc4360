import type { BankAccountCheck } from '#domain/bank-account.ts'
import type { Route } from '#infra/http/route.ts'
import type { Merchants } from '../payments/merchants.ts'
import { makeApplications, type ApplicationsDeps } from './applications.ts'
import { cardRoutes } from './card-routes.ts'
import type { People } from './customer-given.ts'
import { directDebitRoutes } from './direct-debit-routes.ts'
import { bindRoute, type Policies } from './bind-route.ts'
import { checkoutRoutes } from './checkout-routes.ts'
import { explainRoute } from './explain-route.ts'
import { mandateRoutes } from './mandate-routes.ts'
import { quoteRoutes } from './quote-routes.ts'
import { marketRoutes } from './market-routes.ts'
import { saveRoutes } from './save-routes.ts'
import { settlementRoutes } from '../payments/settlement-routes.ts'
import { startRoute } from './start-route.ts'
import { teamRoutes } from './team-routes.ts'

export type ApplicationRoutesDeps = ApplicationsDeps & {
  readonly people: People
  readonly checkBankAccount: BankAccountCheck
  readonly merchants: Merchants
  readonly policies: Policies
}

/** Everything that changes an application: starting it, what is saved into it, its quotes. */
export const applicationRoutes = ({
  people,
  checkBankAccount,
  merchants,
  policies,
  ...deps
}: ApplicationRoutesDeps): Route[] => {
  const applications = makeApplications(deps)
  return [
    startRoute({ applications, people }),
    ...saveRoutes({ applications, people }),
    ...quoteRoutes(applications),
    ...directDebitRoutes({ applications, checkBankAccount }),
    ...mandateRoutes({ applications, merchants }),
    ...cardRoutes({ applications, merchants }),
    ...checkoutRoutes({ applications }),
    ...teamRoutes(applications),
    ...marketRoutes({ applications }),
    ...settlementRoutes(applications),
    explainRoute({ applications, log: deps.writer.log }),
    bindRoute({ applications, policies, merchants }),
  ]
}
