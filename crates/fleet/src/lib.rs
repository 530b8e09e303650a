//! Many Kubernetes clusters as one host: what the kubeconfig says, connections made when needed, reads over all of them.
