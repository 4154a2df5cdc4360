type Addressed = {
  readonly method: string
  readonly address: string
  /** The last parameter takes all the steps that are left. */
  readonly takesRest?: true
}
type Params = Readonly<Record<string, string>>

export type FoundRoute<Route> = {
  readonly route: Route
  /** The values of its parameters in the path of the request; throws an URIError where one cannot be decoded. */
  readonly params: () => Params
}

/** The routes that share the first steps of their addresses. */
type Place<Route> = {
  readonly literal: Map<string, Place<Route>>
  parameter: Place<Route> | undefined
  /** The routes whose addresses end here, by method. */
  readonly routes: Map<string, Route>
  /** Those that also take all the steps that follow. */
  readonly rest: Map<string, Route>
}

const emptyPlace = <Route>(): Place<Route> => ({
  literal: new Map(),
  parameter: undefined,
  routes: new Map(),
  rest: new Map(),
})

const stepsOf = (path: string): readonly string[] => path.split('/')

/**
 * Finds the route of a path step by step, where Express would try one expression after the other. Steps are compared as they
 * were sent: in upper and lower case, and still encoded. A step that is named goes before a parameter, where it leads to a
 * route for the method. HEAD is answered as GET is, and a slash at the end does not matter.
 */
export const routeFinder = <Route extends Addressed>(routes: readonly Route[]) => {
  const root = emptyPlace<Route>()
  for (const route of routes) {
    let place = root
    for (const step of stepsOf(route.address)) {
      const next = (step.startsWith(':') ? place.parameter : place.literal.get(step)) ?? emptyPlace<Route>()
      if (step.startsWith(':')) place.parameter = next
      else place.literal.set(step, next)
      place = next
    }
    const method = route.method.toUpperCase()
    // Of two, the first counts.
    if (!place.routes.has(method)) place.routes.set(method, route)
    if (route.takesRest && !place.rest.has(method)) place.rest.set(method, route)
  }

  const find = (place: Place<Route>, method: string, steps: readonly string[], at: number): Route | undefined => {
    const step = steps[at]
    if (step === undefined) return place.routes.get(method)
    const literal = place.literal.get(step)
    const found = literal && find(literal, method, steps, at + 1)
    const given = found ?? (place.parameter && step !== '' ? find(place.parameter, method, steps, at + 1) : undefined)
    return given ?? (step === '' ? undefined : place.rest.get(method))
  }

  return (sentMethod: string, sentPath: string): FoundRoute<Route> | undefined => {
    const method = sentMethod === 'HEAD' ? 'GET' : sentMethod
    const sent = stepsOf(sentPath)
    const steps = sent.length > 2 && sent.at(-1) === '' ? sent.slice(0, -1) : sent
    const route = find(root, method, steps, 0)
    return route && { route, params: () => paramsOf(route, steps) }
  }
}

const paramsOf = ({ address, takesRest }: Addressed, steps: readonly string[]): Params => {
  const params: Record<string, string> = {}
  const names = stepsOf(address)
  for (const [place, name] of names.entries()) {
    const isRest = takesRest && place === names.length - 1
    const taken = isRest ? steps.slice(place).join('/') : (steps[place] ?? '')
    if (name.startsWith(':')) params[name.slice(1)] = decodeURIComponent(taken)
  }
  return params
}
