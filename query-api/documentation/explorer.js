/* global SwaggerUIBundle */
// The page of the explorer. In the demo, the service answers what to sign in with and an example for each operation.

const answered = async (response) => ((await response).ok ? (await response).json() : undefined)

const signIn = async (demo, resource) => {
  const form = { grant_type: 'client_credentials', client_id: demo.client_id, client_secret: demo.client_secret }
  const body = new URLSearchParams({ ...form, scope: 'read write crm outcomes', resource })
  return (await answered(fetch('/oauth/token', { method: 'POST', body })))?.access_token
}

const fillIn = (operation, { path = {}, query = {}, body }) => {
  for (const parameter of operation.parameters ?? []) {
    const value = { path, query }[parameter.in]?.[parameter.name]
    if (value !== undefined) parameter.example = value
  }
  for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
    if (body === undefined) continue
    if (type === 'application/x-www-form-urlencoded')
      for (const [name, value] of Object.entries(body)) content.schema.properties[name].example = value
    else content.example = body
  }
}

const start = async () => {
  const [document, demo] = await Promise.all([
    answered(fetch('/api/v1/openapi.json')),
    answered(fetch('/api/v1/explorer/demo.json')),
  ])
  if (document === undefined) {
    window.document.getElementById('explorer').textContent = 'The OpenAPI document was not made. Run npm run openapi.'
    return
  }
  const resource = `${document.servers[0].url}/api/v1`
  const token = demo && (await signIn(demo, resource))
  document.servers = [{ url: location.origin }]
  if (demo) {
    document.info.description = `${document.info.description ?? ''}\n\nSigned in to the demo organisation, and as the operator.`
    for (const methods of Object.values(document.paths))
      for (const operation of Object.values(methods)) fillIn(operation, demo.examples[operation.operationId] ?? {})
  }

  SwaggerUIBundle({
    spec: document,
    dom_id: '#explorer',
    deepLinking: true,
    tryItOutEnabled: true,
    syntaxHighlight: { activated: false },
    requestInterceptor: (request) => {
      const { pathname } = new URL(request.url, location.origin)
      if (pathname === '/oauth/token' && !String(request.body).includes('resource='))
        request.body = `${request.body}&resource=${encodeURIComponent(resource)}`
      const bearer = pathname.startsWith('/admin/') ? demo?.operator_key : token
      if (bearer && pathname !== '/oauth/token' && !request.headers.Authorization)
        request.headers.Authorization = `Bearer ${bearer}`
      return request
    },
  })
}

void start()
